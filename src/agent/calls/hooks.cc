// What hooks have to say about a call: before it, when it would be asked, and behind it.
#include "agent/hooks.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/calls/one.h"

namespace stet::agent {
namespace {

hook::ToolFacts FactsOf(const protocol::ToolCallBlock& block, const Raw& args) {
  return {.name = block.tool_name, .input = args, .call_id = block.tool_call_id};
}

/// Whether a hook may answer in the user's place: not where a firm rule wants the user asked.
bool MayBeLifted(const policy::Decision& decision) {
  return decision.verdict == policy::Verdict::kAsk && !decision.firm;
}

policy::Decision DenialOf(const hook::Verdict& verdict) {
  const std::string& reason = verdict.decided.text;
  return {policy::Verdict::kDeny, verdict.decided.by,
          reason.empty() ? "a hook of the user's forbids it" : reason};
}

}  // namespace

void Calls::TakeStop(const hook::Verdict& verdict) {
  stopped_ = true;
  stop_reason_ = verdict.stop_reason.empty() ? "a hook stopped the turn" : verdict.stop_reason;
}

/// Hooks are asked about every call that they want to hear of, whatever policy decided. They can
/// forbid it, change its arguments, want it asked, or allow what would be asked.
Async<Calls::GoesOn> Calls::HearHooks(One& one) {
  if (!HooksWant(bench_, hook::Event::kPreToolUse, one.block.tool_name)) co_return true;
  hook::Occasion occasion = hook::OnPreToolUse(FactsOf(one.block, one.args));
  const Result<hook::Verdict> verdict =
      co_await FireHooks(bench_, stamp_, std::move(occasion), cancel_);
  if (!verdict) co_return std::unexpected(verdict.error());
  if (cancel_.cancelled()) {
    CO_RETURN_IF_ERROR(Answer(one.block, NotRun("the turn was cancelled")));
    co_return false;
  }
  if (verdict->stops) TakeStop(*verdict);
  if (verdict->permission == hook::Permission::kDeny) {
    CO_RETURN_IF_ERROR(Refuse(one, DenialOf(*verdict)));
    co_return false;
  }
  if (verdict->stops) {
    CO_RETURN_IF_ERROR(Answer(one.block, NotRun("a hook stopped the turn")));
    co_return false;
  }
  if (verdict->updated_input) {
    GoesOn changed = Change(one, *verdict->updated_input, "as a hook changed it");
    if (!changed || !*changed) co_return changed;
  }
  if (verdict->permission == hook::Permission::kAsk &&
      one.decision.verdict == policy::Verdict::kAllow) {
    one.decision = {policy::Verdict::kAsk, verdict->decided.by, verdict->decided.text};
  } else if (verdict->permission == hook::Permission::kAllow && MayBeLifted(one.decision)) {
    one.decision = {policy::Verdict::kAllow, verdict->decided.by, ""};
    one.by = verdict->decided.by;
  }
  co_return true;
}

/// What hooks answer in the user's place: whether it may run; nothing when they leave it to the
/// user.
Async<Result<std::optional<bool>>> Calls::AskHooks(One& one) {
  // What an earlier process asked waits for the user already.
  const bool asked =
      earlier_ != nullptr &&
      std::ranges::find(earlier_->permissions, one.block.tool_call_id,
                        &protocol::Permission::tool_call_id) != earlier_->permissions.end();
  if (asked || one.decision.verdict != policy::Verdict::kAsk ||
      !HooksWant(bench_, hook::Event::kPermissionRequest, one.block.tool_name))
    co_return std::nullopt;
  hook::Occasion occasion =
      hook::OnPermissionRequest(FactsOf(one.block, one.args), one.decision.reason);
  const Result<hook::Verdict> verdict =
      co_await FireHooks(bench_, stamp_, std::move(occasion), cancel_);
  if (!verdict) co_return std::unexpected(verdict.error());
  if (verdict->stops) TakeStop(*verdict);
  if (verdict->permission == hook::Permission::kDeny) {
    stopped_ = stopped_ || verdict->interrupts;
    CO_RETURN_IF_ERROR(Refuse(one, DenialOf(*verdict)));
    co_return std::optional<bool>(false);
  }
  if (verdict->stops) {
    CO_RETURN_IF_ERROR(Answer(one.block, NotRun("a hook stopped the turn")));
    co_return std::optional<bool>(false);
  }
  if (verdict->permission != hook::Permission::kAllow || !MayBeLifted(one.decision))
    co_return std::nullopt;
  if (verdict->updated_input) {
    const GoesOn changed = Change(one, *verdict->updated_input, "as a hook changed it");
    if (!changed) co_return std::unexpected(changed.error());
    if (!*changed) co_return std::optional<bool>(false);
    if (one.decision.verdict == policy::Verdict::kAsk && !MayBeLifted(one.decision))
      co_return std::nullopt;
  }
  one.decision.rule = verdict->decided.by;
  one.by = verdict->decided.by;
  co_return std::optional<bool>(true);
}

/// The result is in the log: hooks may object to it, and change what the model is shown of it.
Async<Status> Calls::TellHooks(One& one) {
  const bool heard = bench_.hooks != nullptr || bench_.extensions != nullptr;
  if (!heard || !one.outcome || one.result_id.empty()) co_return Status();
  const hook::ToolFacts facts = FactsOf(one.block, one.args);
  const std::string text = protocol::PlainText(one.outcome->content);
  const std::string_view details =
      one.outcome->details ? std::string_view(one.outcome->details->text) : "";
  hook::Occasion occasion = one.outcome->is_error ? hook::OnPostToolUseFailure(
                                                        facts, text, one.cancel.token().cancelled())
                                                  : hook::OnPostToolUse(facts, text, details);
  const Result<hook::Verdict> verdict =
      co_await FireHooks(bench_, stamp_, std::move(occasion), cancel_);
  if (!verdict) co_return std::unexpected(verdict.error());
  if (verdict->stops) TakeStop(*verdict);
  if (verdict->blocks) {
    hook::Said objection = verdict->block;
    objection.text = fmt::format("It objects to your call of {}: {}", one.block.tool_name,
                                 objection.text.empty() ? "no reason was given" : objection.text);
    CO_RETURN_IF_ERROR(Owe(bench_, OwedByHook(objection), stamp_));
  }
  if (!verdict->updated_output) co_return Status();
  protocol::ContentReplacement replacement;
  replacement.by = verdict->updated_output->by;
  replacement.event_ids.push_back(one.result_id);
  replacement.preview = verdict->updated_output->text;
  co_return AppendEvent(bench_.log, std::move(replacement), stamp_);
}

}  // namespace stet::agent
