// What a session tells, and what the client is told of it.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "acp/options.h"
#include "acp/session.h"
#include "base/text_width.h"
#include "client/await.h"

namespace stet::acp {
namespace {

constexpr std::int64_t kMicro = 1'000'000;

/// Why a turn ended, in the protocol's words; empty when that is an error.
std::string_view StopReasonOf(const std::string& reason, const protocol::OptionalText& stop) {
  if (reason == "completed") return stop == "max_tokens" ? "max_tokens" : "end_turn";
  if (reason == "cancelled" || reason == "stopped") return "cancelled";
  if (reason == "max_turns" || reason == "budget") return "max_turn_requests";
  if (reason == "refused") return "refusal";
  if (reason == "denied" || reason == "blocked") return "end_turn";
  return "";
}

}  // namespace

void Session::Hear(client::News& news) {
  if (!hold_) return;
  if (const auto* event = std::get_if<protocol::Event>(&news)) Hear(*event);
  if (const auto* transient = std::get_if<protocol::Transient>(&news)) Hear(*transient);
}

void Session::Hear(const protocol::Event& event) {
  const protocol::PayloadVariant& payload = event.payload;
  const auto* user = std::get_if<protocol::UserMessage>(&payload);
  if (user != nullptr && IsOwn(event, *user)) return;
  if (event.seq <= told_seq_) return;
  TellAll(updates_->Take(event));
  if (const std::optional<protocol::AskNews> news = protocol::AskNewsIn(event)) {
    if (news->asked)
      Ask(*news->asked);
    else
      Withdraw(news->id);
  } else if (const auto* info = std::get_if<protocol::SessionInfo>(&payload)) {
    HearInfo(*info);
  } else if (const auto* call = std::get_if<protocol::ModelCall>(&payload)) {
    cost_ += call->price.value_or(0);
  } else if (std::holds_alternative<protocol::AssistantMessage>(payload)) {
    TellUsage();
  }
}

/// A prompt of this client's, which it shows itself. A queued one begins with it.
bool Session::IsOwn(const protocol::Event& event, const protocol::UserMessage& message) {
  for (Waiting& prompt : waiting_) {
    const bool sent = message.client_message_id == prompt.message_id;
    const bool queued = !prompt.item_id.empty() && message.queue_item_id == prompt.item_id;
    if (!sent && !queued) continue;
    if (prompt.turn_id.empty()) prompt.turn_id = event.stamp.turn_id.value_or("");
    return true;
  }
  return false;
}

void Session::Hear(const protocol::Transient& transient) {
  TellAll(updates_->Take(transient));
  if (const auto* wait = std::get_if<protocol::Wait>(&transient.transient)) {
    if (wait->who == "user")
      AskOpen(Refresh());
    else if (setup_.client.notices)
      TellNotice("info", fmt::format("waiting for the {}: {}", wait->who, wait->what));
  } else if (const auto* notice = std::get_if<protocol::Notice>(&transient.transient)) {
    TellNotice("info", fmt::format("{}: {}", notice->by, notice->text));
  } else if (const auto* end = std::get_if<protocol::RuntimeEnd>(&transient.transient)) {
    HearEnd(*end);
  }
}

/// A client that has cancelled answers what is open itself.
void Session::Withdraw(const std::string& id) {
  const std::optional<std::int64_t> request = asks_.Withdraw(id);
  if (!request) return;
  setup_.line.Drop(*request);
  if (cancelling_) return;
  Raw params{""};
  JsonWriter(params.text).BeginObject().Member("requestId", setup_.line.IdOf(*request)).EndObject();
  setup_.line.Tell("$/cancel_request", params);
}

void Session::AskOpen(const protocol::LiveState& state) {
  for (const protocol::Ask& ask : protocol::OpenAsks(state)) Ask(ask);
}

void Session::Ask(const protocol::Ask& ask) {
  const std::optional<Outgoing> request =
      std::visit([this](const auto& one) { return Put(one); }, ask);
  if (!request) return;
  const std::string& id = protocol::AskId(ask);
  // The answer is heard on another thread, and taken here.
  asks_.Sent(id,
             setup_.line.Ask(request->method, request->params, [this, id](const Result<Raw>& said) {
               worker_.Post([this, id, said](bool alive) {
                 if (alive) Take(id, said);
               });
             }));
}

std::optional<Outgoing> Session::Put(const protocol::PermissionAsk& ask) {
  return asks_.Ask(ask, updates_->CallOf(ask));
}

std::optional<Outgoing> Session::Put(const protocol::QuestionAsk& ask) {
  if (updates_->ToolOf(ask.question_id) == "ExitPlan") return asks_.AskPlan(ask);
  if (setup_.client.forms) return asks_.AskForm(ask);
  // Ignoring the error on purpose: what was withdrawn meanwhile needs no answer.
  (void)client::Await(
      *hold_, &client::LiveSession::Answer,
      protocol::Decline(
          ask.question_id,
          "the user's client cannot show questions: ask in your reply, and end the turn"));
  return std::nullopt;
}

void Session::Take(const std::string& ask_id, const Result<Raw>& said) {
  const std::optional<protocol::AskAnswer> answer = asks_.Take(ask_id, said);
  if (!hold_ || !answer) return;
  // Ignoring the error on purpose: what was withdrawn meanwhile needs no answer.
  (void)client::Await(*hold_, &client::LiveSession::Answer, *answer);
}

void Session::HearInfo(const protocol::SessionInfo& info) {
  const protocol::InfoChanges& changes = info.changes;
  if (!changes.mode && !changes.model && !changes.effort) return;
  const protocol::LiveState& state = Refresh();
  window_ = state.context_window;
  if (changes.mode) {
    std::string update;
    JsonWriter writer(update);
    writer.BeginObject().Member("sessionUpdate", "current_mode_update");
    writer.Member("currentModeId", state.mode).EndObject();
    Tell(update);
  }
  TellOptions(state);
}

void Session::TellOptions(const protocol::LiveState& state) {
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "config_option_update");
  WriteOptions(writer.Key("configOptions"), state, models_);
  writer.EndObject();
  Tell(update);
}

void Session::HearEnd(const protocol::RuntimeEnd& end) {
  TellUsage();
  const auto prompt = std::ranges::find(waiting_, end.turn_id, &Waiting::turn_id);
  if (prompt != waiting_.end()) {
    const Waiting ended = std::move(*prompt);
    waiting_.erase(prompt);
    Reply(ended, end);
  }
  GoOn();
}

void Session::Reply(const Waiting& prompt, const protocol::RuntimeEnd& end) {
  const Result<protocol::TurnReport> report =
      client::Await(*hold_, &client::LiveSession::Report, end.turn_id);
  const std::string_view stop =
      prompt.cancelled ? "cancelled"
                       : StopReasonOf(end.reason, report ? report->stop_reason : std::nullopt);
  const std::string error = end.error.value_or("");
  if (stop.empty()) {
    const bool auth = report && report->failure == "auth";
    return Refuse(prompt.id, Error(auth ? Code::kAuth : Code::kUnavailable,
                                   error.empty() ? "the turn ended: " + end.reason : error));
  }
  if (!error.empty() && stop != "cancelled") TellNotice("error", error);
  std::string result;
  JsonWriter(result).BeginObject().Member("stopReason", stop).EndObject();
  Respond(prompt.id, result);
}

/// A turn that did not end well leaves the queue standing; here every prompt has its turn.
void Session::GoOn() {
  const bool queued =
      std::ranges::any_of(waiting_, [](const Waiting& prompt) { return prompt.turn_id.empty(); });
  if (!queued) return;
  const protocol::LiveState& state = Refresh();
  if (state.state != "idle" || state.follow_ups.empty()) return;
  protocol::Send next;
  next.how = "next";
  const Result<protocol::Accepted> begun = client::Await(*hold_, &client::LiveSession::Send, next);
  if (begun || begun.error().code == Code::kBusy) return;
  std::erase_if(waiting_, [&](const Waiting& prompt) {
    if (!prompt.turn_id.empty()) return false;
    Refuse(prompt.id, begun.error());
    return true;
  });
}

void Session::Tell(std::string_view update) {
  setup_.output.Push(UpdateLine(setup_.session_id, update));
}

void Session::TellAll(const Updates::List& updates) {
  for (const std::string& update : updates) Tell(update);
}

void Session::TellText(std::string_view text) {
  if (text.empty()) return;
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "agent_message_chunk").Key("content");
  writer.BeginObject().Member("type", "text").Member("text", text).EndObject().EndObject();
  Tell(update);
}

/// Who cannot show it finds it in what the program says beside the protocol.
void Session::TellNotice(std::string_view severity, const std::string& text) {
  if (!setup_.client.notices) {
    const std::string line = fmt::format("stet: {}\n", PrintableText(OneLineText(text)));
    (void)std::fwrite(line.data(), 1, line.size(), stderr);
    return;
  }
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "notice").Member("severity", severity);
  writer.Member("title", text.empty() ? "stet" : text).EndObject();
  Tell(update);
}

void Session::TellUsage() {
  if (updates_->used() <= 0 || window_ <= 0) return;
  std::string update;
  JsonWriter writer(update);
  writer.BeginObject().Member("sessionUpdate", "usage_update");
  writer.Member("used", updates_->used()).Member("size", window_);
  if (cost_ > 0) {
    writer.Key("cost").BeginObject();
    writer.Key("amount").Text(fmt::format("{}.{:06}", cost_ / kMicro, cost_ % kMicro));
    writer.Member("currency", "USD").EndObject();
  }
  writer.EndObject();
  if (update == usage_) return;
  Tell(update);
  usage_ = std::move(update);
}

}  // namespace stet::acp
