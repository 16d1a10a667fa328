// What a session tells, and what the client is told of it.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "acp/options.h"
#include "acp/session/answers.h"
#include "acp/session/session.h"
#include "base/display_width.h"

namespace stet::acp {
namespace {

constexpr std::int64_t kMicro = 1'000'000;
/// So much is heard of a session before the others have their turn.
constexpr std::size_t kMaxNewsAtOnce = 256;
constexpr std::size_t kMaxEnded = 16;

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

void Session::AddDescriptors(std::vector<int>& fds) const {
  fds.push_back(aside_.fd());
  if (hears()) fds.push_back(inbox_.fd());
}

/// Whether the news of the hold are due.
bool Session::hears() const {
  const bool told = life_ == Life::kClosing || (life_ == Life::kOpen && !opening_);
  return told && fetching_ == 0;
}

void Session::Hear() {
  while (std::optional<client::News> news = aside_.Take())
    if (auto* answered = std::get_if<client::Answered>(&*news)) (*answered)();
  if (replaying_) TellHistory();  // There may be room for more.
  for (std::size_t i = 0; i < kMaxNewsAtOnce && hears(); ++i) {
    std::optional<client::News> news = inbox_.Take();
    if (!news) return;
    Take(*news);
  }
}

void Session::Take(client::News& news) {
  if (auto* answered = std::get_if<client::Answered>(&news)) return (*answered)();
  if (const auto* transient = std::get_if<protocol::Transient>(&news)) return Hear(*transient);
  const auto& event = std::get<protocol::Event>(news);
  const auto* user = std::get_if<protocol::UserMessage>(&event.payload);
  if (user != nullptr && IsOwn(event, *user)) return;
  if (event.seq <= told_seq_) return;
  const Updates::List blobs = updates_ ? updates_->BlobsOf(event) : Updates::List();
  if (blobs.empty()) return Hear(event);
  Fetch(blobs, [this, event] { Hear(event); });
}

/// Gets what an event shows, and then goes on with it.
void Session::Fetch(const Updates::List& blobs, const std::function<void()>& then) {
  blobs_.clear();
  fetching_ = blobs.size();
  for (const std::string& name : blobs) {
    setup_.sessions->Blob(setup_.session_id, name,
                          aside_.Then([this, name, then](Result<std::string> blob) {
                            if (blob) blobs_.insert_or_assign(name, *std::move(blob));
                            if (--fetching_ == 0) then();
                          }));
  }
}

void Session::Hear(const protocol::Event& event) {
  if (!updates_) return;
  TellAll(updates_->Take(event));
  if (life_ != Life::kOpen) return;  // Nothing is asked any more.
  const protocol::PayloadVariant& payload = event.payload;
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
  if (!updates_) return;
  TellAll(updates_->Take(transient));
  if (life_ != Life::kOpen) return;
  if (const auto* wait = std::get_if<protocol::Wait>(&transient.transient)) {
    if (wait->who == "user")
      WithState([this](const Status& known) {
        if (known) AskOpen(state_);
      });
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
  asks_.Sent(id, setup_.line.Ask(request->method, request->params,
                                 [this, id](const Result<Raw>& said) { Take(id, said); }));
}

std::optional<Outgoing> Session::Put(const protocol::PermissionAsk& ask) {
  return asks_.Ask(ask, updates_->CallOf(ask));
}

std::optional<Outgoing> Session::Put(const protocol::QuestionAsk& ask) {
  if (updates_->ToolOf(ask.question_id) == "ExitPlan") return asks_.AskPlan(ask);
  if (setup_.client.forms) return asks_.AskForm(ask);
  // Ignoring the error on purpose: what was withdrawn meanwhile needs no answer.
  hold_->Answer(protocol::Decline(
                    ask.question_id,
                    "the user's client cannot show questions: ask in your reply, and end the turn"),
                Then([](const Status&) {}));
  return std::nullopt;
}

void Session::Take(const std::string& ask_id, const Result<Raw>& said) {
  const std::optional<protocol::AskAnswer> answer = asks_.Take(ask_id, said);
  if (life_ != Life::kOpen || !answer) return;
  // Ignoring the error on purpose: what was withdrawn meanwhile needs no answer.
  hold_->Answer(*answer, Then([](const Status&) {}));
}

void Session::HearInfo(const protocol::SessionInfo& info) {
  const protocol::InfoChanges& changes = info.changes;
  if (!changes.mode && !changes.model && !changes.effort) return;
  WithState([this, has_mode = changes.mode.has_value()](const Status&) {
    window_ = state_.context_window;
    if (has_mode) {
      std::string update;
      JsonWriter writer(update);
      writer.BeginObject().Member("sessionUpdate", "current_mode_update");
      writer.Member("currentModeId", state_.mode).EndObject();
      Tell(update);
    }
    TellOptions(state_);
  });
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
    Waiting ended = std::move(*prompt);
    waiting_.erase(prompt);
    FinishTurn(std::move(ended), end);
  } else {
    ended_.push_back(end);
    if (ended_.size() > kMaxEnded) ended_.pop_front();
  }
  GoOn();
}

/// Answers the prompt when it is known how its turn went.
void Session::FinishTurn(Waiting prompt, const protocol::RuntimeEnd& end) {
  auto answer = [this, prompt = std::move(prompt),
                 end](const Result<protocol::TurnReport>& report) mutable {
    const std::string_view stop =
        prompt.cancelled ? "cancelled"
                         : StopReasonOf(end.reason, report ? report->stop_reason : std::nullopt);
    const std::string error = end.error.value_or("");
    if (stop.empty()) {
      const bool auth = report && report->failure == "auth";
      return prompt.asked.Refuse(Error(auth ? Code::kAuth : Code::kUnavailable,
                                       error.empty() ? "the turn ended: " + end.reason : error));
    }
    if (!error.empty() && stop != "cancelled") TellNotice("error", error);
    std::string result;
    JsonWriter(result).BeginObject().Member("stopReason", stop).EndObject();
    prompt.asked.Answer(result);
  };
  // Also while the session is being closed: the turn has ended.
  hold_->Report(end.turn_id, inbox_.Then(std::move(answer)));
}

/// A turn that did not end well leaves the queue standing; here every prompt has its turn.
void Session::GoOn() {
  const bool queued = std::ranges::any_of(waiting_, &Session::IsQueued);
  if (!queued) return;
  WithState([this](const Status& known) {
    if (known && state_.state == "idle" && !state_.follow_ups.empty()) GoOnWithQueue();
  });
}

bool Session::IsQueued(const Waiting& prompt) {
  return prompt.turn_id.empty() && !prompt.item_id.empty() && !prompt.cancelled;
}

void Session::GoOnWithQueue() {
  protocol::Send next;
  next.how = "next";
  hold_->Send(next, Then([this](const Result<protocol::Accepted>& begun) {
                if (begun || begun.error().code == Code::kBusy) return;
                std::erase_if(waiting_, [&](Waiting& prompt) {
                  if (!IsQueued(prompt)) return false;
                  prompt.asked.Refuse(begun.error());
                  return true;
                });
              }));
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
