#include "hook/hooks.h"

#include <algorithm>

#include <fmt/format.h>

#include "hook/kinds.h"

namespace stet::hook {

/// The hooks of one occasion, on their way to their ends.
struct Hooks::Round {
  Round(Loop& loop, std::size_t count, CancelToken token)
      : outcomes(count), left(count), cancel(std::move(token)), done(loop) {}

  std::vector<Outcome> outcomes;
  std::size_t left;
  CancelToken cancel;
  Pending<bool> done;
};

Status AddHooks(const config::HookList& list, const std::string& source, std::vector<Hook>& hooks) {
  for (const config::HookSettings& settings : list) {
    Hook hook;
    const auto name = std::ranges::find(config::kHookEvents, settings.event);
    if (name == config::kHookEvents.end())
      return Fail(Code::kInvalid, fmt::format("there is no event {}", settings.event));
    hook.event = static_cast<Event>(name - config::kHookEvents.begin());
    Result<Matcher> matcher = Matcher::From(settings.matcher);
    if (!matcher)
      return Fail(Code::kInvalid, fmt::format("{}:{}: the matcher of a hook: {}", source,
                                              settings.line, matcher.error().message));
    hook.matcher = *std::move(matcher);
    hook.settings = settings;
    const auto before = std::ranges::count(hooks, hook.event, &Hook::event);
    hook.by = fmt::format("hook:{}/{}", settings.event, before + 1);
    hooks.push_back(std::move(hook));
  }
  return {};
}

Hooks::Hooks(std::vector<Hook> hooks, Surroundings surroundings)
    : hooks_(std::move(hooks)), around_(std::move(surroundings)) {}

std::vector<const Hook*> Hooks::Meant(Event event, std::string_view subject) const {
  std::vector<const Hook*> meant;
  for (const Hook& hook : hooks_) {
    if (hook.event == event && (subject.empty() || hook.matcher.Matches(subject)))
      meant.push_back(&hook);
  }
  return meant;
}

bool Hooks::Wants(Event event, std::string_view subject) const {
  return std::ranges::any_of(hooks_, [&](const Hook& hook) {
    return hook.event == event && (subject.empty() || hook.matcher.Matches(subject));
  });
}

Async<Outcome> Hooks::Ask(const Hook& hook, const std::string& input, CancelToken cancel) {
  switch (hook.settings.kind) {
    case config::HookSettings::Kind::kHttp: {
      Outcome outcome = co_await RunHttp(hook, around_, input, std::move(cancel));
      co_return outcome;
    }
    case config::HookSettings::Kind::kPrompt: {
      Outcome outcome = co_await RunPrompt(hook, around_, input, std::move(cancel));
      co_return outcome;
    }
    case config::HookSettings::Kind::kCommand: break;
  }
  Outcome outcome = co_await RunCommand(hook, around_, input, std::move(cancel));
  co_return outcome;
}

Async<void> Hooks::RunOne(const Hook& hook, std::shared_ptr<const std::string> input,
                          std::shared_ptr<Round> round, std::size_t slot) {
  round->outcomes[slot] = co_await Ask(hook, *input, round->cancel);
  if (--round->left == 0) round->done.Set(true);
}

Async<Verdict> Hooks::Run(Moment moment, Occasion occasion, CancelToken cancel) {
  Verdict verdict;
  const std::vector<const Hook*> meant = Meant(occasion.event, occasion.subject);
  if (meant.empty()) co_return verdict;
  const auto input = std::make_shared<const std::string>(InputOf(moment, occasion));
  const auto round = std::make_shared<Round>(around_.loop, meant.size(), cancel);
  for (std::size_t slot = 0; slot < meant.size(); ++slot)
    around_.loop.Spawn(RunOne(*meant[slot], input, round, slot));
  co_await round->done;
  if (cancel.cancelled()) co_return verdict;
  for (Outcome& outcome : round->outcomes) Add(verdict, std::move(outcome));
  co_return verdict;
}

Async<void> Hooks::RunNotified(Moment moment, Occasion occasion,
                               std::function<void(const Verdict&)> told) {
  const Verdict verdict = co_await Run(std::move(moment), std::move(occasion), finishing_.token());
  if (!finishing_.cancelled() && told) told(verdict);
  if (--notified_ == 0 && none_left_) none_left_->Set(true);
}

void Hooks::Notify(Moment moment, Occasion occasion, std::function<void(const Verdict&)> told) {
  if (finishing_.cancelled() || !Wants(occasion.event, occasion.subject)) return;
  ++notified_;
  around_.loop.Spawn(RunNotified(std::move(moment), std::move(occasion), std::move(told)));
}

Async<void> Hooks::Finish() {
  constexpr std::chrono::milliseconds kPatience{5000};
  if (notified_ > 0) {
    const Pending<bool> none_left = none_left_.emplace(around_.loop);
    Timer clock(around_.loop);
    clock.Start(kPatience, [this] { finishing_.Cancel(); });
    co_await none_left;
  }
  finishing_.Cancel();
}

}  // namespace stet::hook
