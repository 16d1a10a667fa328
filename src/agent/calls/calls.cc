#include "agent/calls/calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/calls/one.h"
#include "agent/hooks.h"
#include "agent/question.h"
#include "agent/session_tools.h"
#include "agent/settings.h"

namespace stet::agent {

Calls::Calls(Workbench& bench, const protocol::Stamp& stamp, CancelToken cancel,
             const Unfinished* earlier)
    : bench_(bench), stamp_(stamp), cancel_(std::move(cancel)), earlier_(earlier) {}

Calls::~Calls() = default;

// While the reply streams: reads start.

void Calls::Begun(std::int64_t index, std::string_view tool) {
  const tool::Tool* found = bench_.tools.Find(tool);
  begun_[index] = found != nullptr && found->reads_only();
}

void Calls::Complete(std::int64_t index, const protocol::ToolCallBlock& block) {
  // Early only when every call before it in the message reads, too: else it could see a file before
  // an earlier call has changed it.
  const auto all_read = std::ranges::all_of(
      begun_, [&](const auto& call) { return call.first > index || call.second; });
  if (!all_read || running_.size() >= kMaxSideBySide || cancel_.cancelled() || !LoadFiles()) return;
  // What hooks say of a call is appended, which must wait for its message.
  if (HooksWant(bench_, hook::Event::kPreToolUse, block.tool_name)) return;
  const Result<OnePtr> planned = Plan(block);
  if (!planned) return;
  const OnePtr& one = *planned;
  Decide(*one);
  if (one->decision.verdict != policy::Verdict::kAllow || one->intent.effects) return;
  early_[block.tool_call_id] = one;
  Start(one);
}

void Calls::Forget() {
  for (const auto& [id, one] : early_) one->cancel.Cancel();
  early_.clear();
  begun_.clear();
}

Async<void> Calls::Abandon() {
  Forget();
  for (const OnePtr& one : running_) co_await one->ended;
  running_.clear();
}

// The message is in the log: what it calls goes through its phases.

Async<Status> Calls::Run(const protocol::Blocks& blocks) {
  CO_RETURN_IF_ERROR(LoadFiles());
  CO_RETURN_IF_ERROR(PrepareRun(bench_, stamp_));
  CO_RETURN_IF_ERROR(AnnounceEarly(blocks));
  for (const protocol::Block& block : blocks) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    if (call == nullptr || early_.contains(call->tool_call_id)) continue;
    const bool open =
        std::ranges::find(bench_.log.open_calls(), call->tool_call_id,
                          &log::OpenCall::tool_call_id) != bench_.log.open_calls().end();
    if (!open) continue;
    Status ran = co_await RunCall(*call);
    if (!ran) {
      status_ = std::move(ran);
      break;
    }
  }
  Status rest = co_await Await(0);
  for (std::size_t i = 0; rest && i < side_by_side_.size(); ++i)
    rest = co_await TellHooks(*side_by_side_[i]);
  co_return rest;
}

/// What started early stands right behind its message, before anything else of it.
Status Calls::AnnounceEarly(const protocol::Blocks& blocks) {
  for (const protocol::Block& block : blocks) {
    const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
    const auto early = call != nullptr ? early_.find(call->tool_call_id) : early_.end();
    if (early == early_.end()) continue;
    RETURN_IF_ERROR(Announce(*early->second));
    side_by_side_.push_back(early->second);
  }
  return {};
}

/// One call through its phases. A read may still run when this ends; Run awaits it.
Async<Status> Calls::RunCall(const protocol::ToolCallBlock& block) {
  if (cancel_.cancelled()) co_return Answer(block, NotRun("the turn was cancelled"));
  if (stopped_) co_return Answer(block, NotRun("the turn was stopped"));
  Result<OnePtr> planned = Plan(block);
  if (!planned) co_return Answer(block, tool::Problem(planned.error().message));
  const OnePtr one = *std::move(planned);
  Decide(*one);
  GoesOn goes_on = co_await HearHooks(*one);
  if (goes_on && *goes_on) goes_on = co_await Ask(*one);
  if (!goes_on) co_return std::unexpected(goes_on.error());
  if (!*goes_on) co_return Status();
  Status ran = co_await StartInTurn(one);
  co_return ran;
}

// Plan.

Result<Calls::OnePtr> Calls::Plan(const protocol::ToolCallBlock& block) const {
  RETURN_IF_ERROR(bench_.tools.Check(block.tool_name, block.args));
  auto one = std::make_shared<One>(bench_.loop, cancel_);
  one->block = block;
  one->args = block.args;
  one->tool = bench_.tools.Find(block.tool_name);
  ASSIGN_OR_RETURN(one->intent, one->tool->Intend(one->args, bench_.workspace));
  return one;
}

// Decide.

policy::Question Calls::Question(const One& one) const {
  return QuestionOf(one.block.tool_name, one.intent, bench_.workspace, bench_.settings->rules);
}

void Calls::Decide(One& one) const {
  one.decision = DecisionNow(one);
  one.decided_at = bench_.log.last_seq();
}

policy::Decision Calls::DecisionNow(const One& one) const {
  const SessionSettings& settings = *bench_.settings;
  return HeldToItsBox(policy::Decide(settings.rules, Question(one), CircumstancesOf(one.intent)),
                      settings.sandbox, settings.rules.mode, one.intent.command);
}

/// What the run permits now; of a command, whether it would run in a sandbox, and whether that
/// hides what is excluded.
policy::Circumstances Calls::CircumstancesOf(const tool::Intent& intent) const {
  const SessionSettings& settings = *bench_.settings;
  policy::Circumstances now{.run = CapabilitiesNow(bench_)};
  if (intent.command.empty()) return now;
  now.sandboxed = IsBoxed(settings.sandbox, settings.rules.mode);
  const bool boxed = now.sandboxed || CanBox(settings.sandbox, policy::Box::kReads).has_value();
  const bool kept_in = boxed && !intent.unsandboxed;
  const Hiding hiding = HidingOf(settings.sandbox);
  now.hides_excluded = kept_in && hiding.all;
  now.hides_files = kept_in && hiding.any;
  now.hides_denied = hiding.outside;
  return now;
}

/// What the call would do with these arguments; fails when they do not fit the tool.
Result<tool::Intent> Calls::IntentOf(const One& one, const Raw& args) const {
  RETURN_IF_ERROR(bench_.tools.Check(one.block.tool_name, args));
  return one.tool->Intend(args, bench_.workspace);
}

/// Takes the arguments that the user or a hook put in place of the model's, and lets policy decide
/// again: the decision, and any answer, was about the old ones.
Calls::GoesOn Calls::Change(One& one, Raw args, std::string_view how) {
  one.args = std::move(args);
  Result<tool::Intent> intent = IntentOf(one, one.args);
  if (!intent) {
    RETURN_IF_ERROR(Answer(one.block, NotRun(fmt::format("{}, {}", how, intent.error().message))));
    return false;
  }
  one.intent = *std::move(intent);
  Decide(one);
  if (one.decision.verdict != policy::Verdict::kDeny) return true;
  RETURN_IF_ERROR(Refuse(one, one.decision));
  return false;
}

Status Calls::LoadFiles() {
  if (bench_.files) return {};
  ASSIGN_OR_RETURN(bench_.files, ReadKnownFiles(bench_.log, bench_.own));
  return {};
}

}  // namespace stet::agent
