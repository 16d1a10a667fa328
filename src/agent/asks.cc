#include "agent/asks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.h"
#include "json/view.h"
#include "protocol/ids.h"

namespace stet::agent {
namespace {

/// For how long, and where, a permission holds.
constexpr std::string_view kScopeOnce = "once";
constexpr std::array<std::string_view, 4> kScopes = {kScopeOnce, "session", "project", "always"};

}  // namespace

Status Asks::Append(protocol::Payload payload, const protocol::Stamp& stamp) {
  std::vector<log::Draft> batch;
  batch.push_back({.payload = std::move(payload), .id = "", .stamp = stamp});
  RETURN_IF_ERROR(log_.Append(std::move(batch)));
  return {};
}

/// An ask that stands in the log already makes no new event: a transient tells clients to look.
void Asks::TellReopened(const std::string& what) {
  protocol::Wait wait;
  wait.who = "user";
  wait.what = what;
  log_.Publish(std::move(wait));
}

Async<Result<PermissionReply>> Asks::Permission(WantedPermission wanted, protocol::Stamp stamp,
                                                CancelToken cancel) {
  protocol::PermissionAsk& ask = wanted.ask;
  const bool reopened = !ask.request_id.empty();
  if (!reopened) ask.request_id = protocol::NewRequestId(ProcessRandom());
  const std::string id = ask.request_id;
  protocol::Permission event;
  event.request_id = id;
  event.tool_call_id = ask.tool_call_id;
  event.args_hash = wanted.args_hash;
  const Pending<PermissionReply> reply(loop_);
  // Open before it is published: an answer may come at once.
  permissions_.insert_or_assign(id, OpenPermission{wanted, stamp, reply});
  if (!reopened) {
    event.phase = protocol::phase::kAsked;
    event.options = Raw{Encode(ask)};
    if (Status asked = Append(event, stamp); !asked) {
      permissions_.erase(id);
      co_return std::unexpected(std::move(asked).error());
    }
  } else {
    TellReopened(ask.summary);
  }
  const CancelRegistration registration = cancel.OnCancel([reply] { reply.Set(std::nullopt); });
  PermissionReply said = co_await reply;
  permissions_.erase(id);
  if (!said) {
    event.phase = protocol::phase::kWithdrawn;
    event.options.reset();
    CO_RETURN_IF_ERROR(Append(event, stamp));
  }
  co_return said;
}

Async<Result<QuestionReply>> Asks::Question(protocol::QuestionAsk ask, bool reopened,
                                            protocol::Stamp stamp, CancelToken cancel) {
  const std::string id = ask.question_id;
  const Pending<QuestionReply> reply(loop_);
  questions_.insert_or_assign(id, OpenQuestion{ask, stamp, reply});
  if (!reopened) {
    protocol::Question event;
    event.question_id = id;
    event.phase = protocol::phase::kAsked;
    event.text = ask.text;
    event.options = ask.options;
    event.blocking = true;
    if (Status asked = Append(std::move(event), stamp); !asked) {
      questions_.erase(id);
      co_return std::unexpected(std::move(asked).error());
    }
  } else {
    TellReopened(ask.text);
  }
  const CancelRegistration registration = cancel.OnCancel([reply] { reply.Set(std::nullopt); });
  QuestionReply said = co_await reply;
  questions_.erase(id);
  if (!said) {
    protocol::Question withdrawn;
    withdrawn.question_id = id;
    withdrawn.phase = protocol::phase::kWithdrawn;
    CO_RETURN_IF_ERROR(Append(std::move(withdrawn), stamp));
  }
  co_return said;
}

/// Nothing when it has not been answered.
std::optional<Status> Asks::AnsweredBefore(const std::string& id, const std::string& by,
                                           const std::string& said) const {
  const auto known = answered_.find(id);
  if (known == answered_.end()) return std::nullopt;
  if (known->second.by == by && known->second.said == said) return Status();
  return Fail(Code::kConflict, fmt::format("{} has answered that already", known->second.by));
}

/// The rule that the answer grants; nothing when it grants none.
std::optional<std::string> Asks::RuleOf(const WantedPermission& wanted,
                                        const protocol::PermissionAnswer& answer) {
  if (!answer.allow || answer.scope == kScopeOnce) return std::nullopt;
  const bool edited = answer.args && answer.args->text != wanted.ask.args.text;
  return edited ? wanted.rule_for_edit(*answer.args) : std::optional(wanted.ask.session_rule);
}

Status Asks::Answer(const protocol::PermissionAnswer& sent, const std::string& by) {
  const std::string said = Encode(sent);
  protocol::PermissionAnswer answer = sent;
  if (answer.scope.empty()) answer.scope = kScopeOnce;
  if (std::ranges::find(kScopes, answer.scope) == kScopes.end())
    return Fail(Code::kInvalid, fmt::format("there is no scope \"{}\": it is one of {}", sent.scope,
                                            fmt::join(kScopes, ", ")));
  if (const auto before = AnsweredBefore(answer.request_id, by, said)) return *before;
  const auto open = permissions_.find(answer.request_id);
  // One that has been cancelled is open until its turn goes on, and is not answered any more.
  if (open == permissions_.end() || open->second.reply.is_set())
    return Fail(Code::kNotFound, fmt::format("nothing asks for {}", answer.request_id));
  protocol::Permission event;
  event.request_id = answer.request_id;
  event.tool_call_id = open->second.wanted.ask.tool_call_id;
  event.args_hash = open->second.wanted.args_hash;
  event.phase = protocol::phase::kAnswered;
  event.answer = answer.allow ? "allow" : "deny";
  event.args = answer.args;
  event.scope = answer.scope;
  const std::optional<std::string> granted = RuleOf(open->second.wanted, answer);
  event.rule = granted;
  event.by = by;
  if (!own_.key.empty()) event.mac = MacOf(own_, log_.header().session_id, event);
  const Pending<PermissionReply> reply = open->second.reply;
  RETURN_IF_ERROR(Append(std::move(event), open->second.stamp));
  answered_[answer.request_id] = {by, said};
  reply.Set(Permitted{answer, by, granted});
  return {};
}

Status Asks::Answer(const protocol::QuestionAnswer& answer, const std::string& by) {
  const std::string said = Encode(answer);
  if (const auto before = AnsweredBefore(answer.question_id, by, said)) return *before;
  const auto open = questions_.find(answer.question_id);
  if (open == questions_.end() || open->second.reply.is_set())
    return Fail(Code::kNotFound, fmt::format("there is no open question {}", answer.question_id));
  protocol::Question event;
  event.question_id = answer.question_id;
  event.phase = protocol::phase::kAnswered;
  event.answer = answer.answer;
  event.by = by;
  const Pending<QuestionReply> reply = open->second.reply;
  RETURN_IF_ERROR(Append(std::move(event), open->second.stamp));
  answered_[answer.question_id] = {by, said};
  reply.Set(answer.answer);
  return {};
}

protocol::PermissionAsks Asks::permissions() const {
  protocol::PermissionAsks asks;
  for (const auto& [id, open] : permissions_) asks.push_back(open.wanted.ask);
  return asks;
}

protocol::QuestionAsks Asks::questions() const {
  protocol::QuestionAsks asks;
  for (const auto& [id, open] : questions_) asks.push_back(open.ask);
  return asks;
}

}  // namespace stet::agent
