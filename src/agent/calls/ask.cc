// Asking about a call that policy neither allows nor denies: first the hooks, which may answer in
// the user's place, then a person.
#include <algorithm>

#include <fmt/format.h>

#include "agent/asks.h"
#include "agent/calls/one.h"
#include "agent/hooks.h"
#include "agent/question.h"
#include "agent/settings.h"
#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/text.h"

namespace stet::agent {

Async<Calls::GoesOn> Calls::Ask(One& one) {
  if (one.decision.verdict == policy::Verdict::kAllow) co_return true;
  Result<std::optional<bool>> answered = co_await AskHooks(one);
  if (!answered) co_return std::unexpected(answered.error());
  if (*answered) co_return **answered;
  if (one.decision.verdict == policy::Verdict::kDeny) {
    CO_RETURN_IF_ERROR(Refuse(one, one.decision));
    co_return false;
  }
  if (!bench_.asks.present()) {
    CO_RETURN_IF_ERROR(Refuse(one, one.decision, ", and nobody is there to ask"));
    co_return false;
  }
  GoesOn permitted = co_await AskPerson(one);
  co_return permitted;
}

/// What a process before this one asked about the same call, if it had the same arguments: an
/// answer counts only for the arguments that were asked about. Null: nothing.
const protocol::Permission* Calls::AskedBefore(const One& one) const {
  if (earlier_ == nullptr) return nullptr;
  const auto before = std::ranges::find(earlier_->permissions, one.block.tool_call_id,
                                        &protocol::Permission::tool_call_id);
  const bool same =
      before != earlier_->permissions.end() && before->args_hash == FastHashHex(one.args.text);
  return same ? &*before : nullptr;
}

Async<Calls::GoesOn> Calls::AskPerson(One& one) {
  // A person decides knowing what could not be put back; why nothing could is said by the result.
  (void)co_await TakeCheckpoint(one);
  WantedPermission wanted;
  protocol::PermissionAsk& ask = wanted.ask;
  ask.tool_call_id = one.block.tool_call_id;
  ask.tool = one.block.tool_name;
  ask.args = one.args;
  ask.summary = one.intent.summary;
  if (!one.intent.command.empty()) {
    // What the model says of a command is its claim; a person decides on the command.
    ask.summary = FirstLine(one.intent.command);
    const SandboxRules& sandbox = bench_.settings->sandbox;
    ask.confined = !one.intent.unsandboxed && sandbox.when == SandboxRules::When::kAlways &&
                   IsBoxed(sandbox, bench_.settings->rules.mode);
  }
  ask.reason = one.decision.reason;
  if (const std::string left_out = NotCoveredText(one); !left_out.empty())
    ask.reason += (ask.reason.empty() ? "" : ". ") + left_out;
  ask.rule = one.decision.rule;
  ask.session_rule = policy::RuleText(policy::GrantFor(bench_.settings->rules, Question(one)));
  if (const protocol::Permission* before = AskedBefore(one)) {
    if (before->phase == protocol::phase::kAnswered) {
      protocol::PermissionAnswer answer;
      answer.allow = before->answer == "allow";
      answer.args = before->args;
      one.by = before->by.value_or("");
      co_return TakeAnswer(one, answer);
    }
    // It still waits under the id that clients know; one that was withdrawn is asked anew.
    if (before->phase != protocol::phase::kWithdrawn) ask.request_id = before->request_id;
  }
  NotifyHooks(bench_, stamp_,
              hook::OnNotification("permission_prompt", fmt::format("{} waits for your word: {}",
                                                                    ask.tool, ask.summary)));
  wanted.args_hash = FastHashHex(one.args.text);
  wanted.rule_for_edit = [this, &one](const Raw& args) { return RuleForEdit(one, args); };
  Result<PermissionReply> said =
      co_await bench_.asks.Permission(std::move(wanted), stamp_, cancel_);
  if (!said) co_return std::unexpected(said.error());
  if (!*said) {
    CO_RETURN_IF_ERROR(Answer(one.block, NotRun("the turn was cancelled before it was allowed")));
    co_return false;
  }
  const protocol::PermissionAnswer& answer = (*said)->answer;
  if ((*said)->granted) {
    Grant(*(*said)->granted, answer.scope);
    bench_.settings->sandbox.shared->KeptBack(one.intent.command);
  }
  one.by = (*said)->by;
  co_return TakeAnswer(one, answer);
}

Calls::GoesOn Calls::TakeAnswer(One& one, const protocol::PermissionAnswer& answer) {
  if (!answer.allow) {
    stopped_ = answer.stop;
    policy::Decision denied{policy::Verdict::kDeny, "user", "the user said no"};
    if (!answer.message.empty()) denied.reason += ": " + answer.message;
    RETURN_IF_ERROR(Deny(one, denied, denied.reason));
    return false;
  }
  if (!answer.args || answer.args->text == one.args.text) return true;
  return Change(one, *answer.args, "as the user edited it");
}

/// The rule that covers the call with the arguments that a client gave it; nothing when it may not
/// run with them: what is refused grants nothing.
std::optional<std::string> Calls::RuleForEdit(const One& one, const Raw& args) const {
  const Result<tool::Intent> intent = IntentOf(one, args);
  if (!intent) return std::nullopt;
  const policy::Rules& rules = bench_.settings->rules;
  const policy::Question question =
      QuestionOf(one.block.tool_name, *intent, bench_.workspace, rules);
  const policy::Decision decision = policy::Decide(rules, question, CircumstancesOf(*intent));
  if (decision.verdict == policy::Verdict::kDeny) return std::nullopt;
  return policy::RuleText(policy::GrantFor(rules, question));
}

/// The rule allows from now on, in this session; a wider grant is also kept for later sessions.
void Calls::Grant(const std::string& rule, const std::string& scope) {
  bench_.settings.Grant({policy::GrantFrom(rule)});
  if (scope == "session" || !bench_.kept_rules.keep) return;
  // The session has the grant whether or not it could be kept: the user allowed this call.
  if (const Status kept = bench_.kept_rules.keep(scope, rule); !kept)
    STET_LOG(kWarn, "a grant could not be kept: {}", kept.error().Text());
}

}  // namespace stet::agent
