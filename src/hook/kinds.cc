#include "hook/kinds.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "hook/process.h"
#include "json/view.h"
#include "net/http.h"

namespace stet::hook {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kDefaultTimeout{60'000};
/// The user waits for the program to end.
constexpr milliseconds kMostAtSessionEnd{5'000};
constexpr std::size_t kShownBytes = 500;

std::string Shown(std::string_view text) {
  const std::string clean = ReplaceInvalidUtf8(text);
  const std::size_t begin = std::min(clean.find_first_not_of(" \t\r\n"), clean.size());
  std::string shown = clean.substr(begin, Utf8PrefixLength(clean.substr(begin), kShownBytes));
  shown.erase(shown.find_last_not_of(" \t\r\n") + 1);
  return shown;
}

Outcome Trouble(const Hook& hook, std::string_view what, std::string_view more = "") {
  Outcome outcome{.by = hook.by, .output = {}, .trouble = {}};
  const std::string shown = Shown(more);
  outcome.trouble = shown.empty() ? std::string(what) : fmt::format("{}: {}", what, shown);
  return outcome;
}

Outcome OutcomeOf(const Hook& hook, Result<Output> output) {
  if (!output) return Trouble(hook, output.error().message);
  return {.by = hook.by, .output = *std::move(output), .trouble = {}};
}

Outcome TimedOut(const Hook& hook) {
  return Trouble(hook, fmt::format("it was stopped after {} s", TimeoutOf(hook).count() / 1000));
}

/// Keeps the body, up to a cap.
class Body final : public net::HttpSink {
 public:
  void OnHead(int, const net::Headers&) override {}
  net::Want OnBytes(std::string_view bytes) override {
    too_long = too_long || bytes.size() > kMaxOutputBytes - text.size();
    if (too_long) return net::Want::kStop;
    text += bytes;
    return net::Want::kMore;
  }
  void OnStall(milliseconds, milliseconds) override {}

  std::string text;
  bool too_long = false;
};

}  // namespace

milliseconds TimeoutOf(const Hook& hook) {
  milliseconds timeout = kDefaultTimeout;
  if (hook.settings.timeout > 0) timeout = std::chrono::seconds(hook.settings.timeout);
  return hook.event == Event::kSessionEnd ? std::min(timeout, kMostAtSessionEnd) : timeout;
}

Async<Outcome> RunCommand(const Hook& hook, const Surroundings& around, std::string input,
                          CancelToken cancel) {
  SpawnOptions options;
  options.argv = {"bash", "-c", hook.settings.what};
  options.env = WithProject(around.variables(), around.project);
  options.cwd = around.project;
  options.stdin_data = std::move(input) + "\n";
  options.max_output_bytes = kMaxOutputBytes;
  options.new_session = true;
  const ProcessEnd end =
      co_await RunProcess(around.loop, std::move(options), TimeoutOf(hook), std::move(cancel));
  switch (end.how) {
    case ProcessEnd::How::kNotStarted: co_return Trouble(hook, "it could not be started", end.err);
    case ProcessEnd::How::kTimeout: co_return TimedOut(hook);
    case ProcessEnd::How::kCancelled: co_return Outcome{.by = hook.by, .output = {}, .trouble = {}};
    case ProcessEnd::How::kSignal: co_return Trouble(hook, "it was ended by a signal", end.err);
    case ProcessEnd::How::kExited: break;
  }
  constexpr int kBlocks = 2;
  if (end.exit_code == kBlocks) co_return OutcomeOf(hook, BlockOf(hook.event, end.err));
  if (end.exit_code != 0)
    co_return Trouble(hook, fmt::format("it ended with exit code {}", end.exit_code), end.err);
  co_return OutcomeOf(hook, ReadOutput(hook.event, end.out));
}

Async<Outcome> RunHttp(const Hook& hook, const Surroundings& around, std::string input,
                       CancelToken cancel) {
  if (around.http == nullptr) co_return Trouble(hook, "there is no network here");
  net::HttpRequest request;
  request.url = hook.settings.what;
  request.headers = {{"content-type", "application/json"}};
  request.body = std::move(input);
  request.clocks.whole = TimeoutOf(hook);
  request.clocks.first_byte = TimeoutOf(hook);
  Body body;
  const net::HttpEnd end = co_await around.http->Send(request, body, std::move(cancel));
  if (end.trouble == net::HttpTrouble::kCancelled)
    co_return Outcome{.by = hook.by, .output = {}, .trouble = {}};
  if (body.too_long) co_return Trouble(hook, "its reply is too long");
  if (end.trouble != net::HttpTrouble::kNone)
    co_return Trouble(hook, "it could not be asked", end.message);
  constexpr int kOk = 200;
  constexpr int kNotOk = 300;
  if (end.status < kOk || end.status >= kNotOk)
    co_return Trouble(hook, fmt::format("it answered with status {}", end.status), body.text);
  co_return OutcomeOf(hook, ReadOutput(hook.event, body.text));
}

Result<Output> ReadPromptReply(Event event, std::string_view reply) {
  const std::size_t begin = reply.find('{');
  const std::size_t end = reply.rfind('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    return Fail(Code::kInvalid, "the model did not answer with JSON");
  const std::string_view json = reply.substr(begin, end - begin + 1);
  const JsonView answer(json);
  if (!answer["ok"]) return ReadOutput(event, json);
  if (!Raw::From(json) || !answer["ok"].Bool())
    return Fail(Code::kInvalid, "the model did not answer with JSON");
  if (*answer["ok"].Bool()) return Output();
  return BlockOf(event, answer["reason"].StringOr(""));
}

Async<Outcome> RunPrompt(const Hook& hook, const Surroundings& around, std::string input,
                         CancelToken cancel) {
  if (!around.ask)
    co_return Trouble(hook, "there is no auxiliary model: set [model.roles] auxiliary");
  constexpr std::string_view kPlace = "$ARGUMENTS";
  std::string prompt = hook.settings.what;
  const std::size_t at = prompt.find(kPlace);
  if (at == std::string::npos)
    prompt += "\n\n" + input;
  else
    prompt.replace(at, kPlace.size(), input);
  CancelSource stop(cancel);
  bool late = false;
  Timer clock(around.loop);
  clock.Start(TimeoutOf(hook), [&] {
    late = true;
    stop.Cancel();
  });
  const Result<std::string> said = co_await around.ask(std::move(prompt), stop.token());
  clock.Cancel();
  if (late) co_return TimedOut(hook);
  if (cancel.cancelled()) co_return Outcome{.by = hook.by, .output = {}, .trouble = {}};
  if (!said) co_return Trouble(hook, "the model gave no answer", said.error().message);
  co_return OutcomeOf(hook, ReadPromptReply(hook.event, *said));
}

}  // namespace stet::hook
