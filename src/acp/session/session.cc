#include "acp/session/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "acp/options.h"
#include "acp/prompt.h"
#include "acp/session/answers.h"
#include "base/random.h"

namespace stet::acp {
namespace {

constexpr std::string_view kCancelledPrompt = R"({"stopReason":"cancelled"})";

}  // namespace

Session::Session(SessionSetup setup)
    : setup_(std::move(setup)),
      editor_(std::make_shared<Editor>(setup_.session_id, setup_.client.offers, setup_.line)),
      asks_(setup_.session_id) {}

Session::~Session() {
  editor_->End();
  if (replaying_) replaying_->history->End();
  for (const std::int64_t request : asks_.open_requests()) setup_.line.Drop(request);
}

Error Session::NotOpen() const {
  return {Code::kNotFound, fmt::format("session {} is not open: use session/load or session/resume",
                                       setup_.session_id)};
}

void Session::WhenOpen(Asked asked, Perform perform) {
  if (opening_) return Wait({.asked = std::move(asked), .perform = perform});
  if (life_ != Life::kOpen) return asked.Refuse(NotOpen());
  (this->*perform)(std::move(asked));
}

void Session::Wait(Later later) {
  if (later_.size() >= kMaxLater)
    return later.asked.Refuse(Error(Code::kBusy, "too many requests wait: try again"));
  later_.push_back(std::move(later));
}

/// What came while it was being opened, until one of them opens it once more.
void Session::DoLater() {
  while (!later_.empty() && !opening_) {
    Later next = std::move(later_.front());
    later_.pop_front();
    if (next.perform != nullptr)
      WhenOpen(std::move(next.asked), next.perform);
    else
      Open(std::move(next.asked), {}, next.opening);
  }
}

void Session::Cancel() {
  // A prompt that waits for the opening has not begun.
  std::erase_if(later_, [](Later& later) {
    if (later.perform != &Session::DoPrompt) return false;
    later.asked.Answer(kCancelledPrompt);
    return true;
  });
  if (life_ == Life::kOpen) DoCancel();
}

void Session::CancelRequest(const Raw& id) {
  std::erase_if(later_, [&](Later& later) {
    if (later.perform != &Session::DoPrompt || later.asked.id() != id) return false;
    later.asked.Answer(kCancelledPrompt);
    return true;
  });
  const auto is_it = [&](const Waiting& prompt) { return prompt.asked.id() == id; };
  if (life_ == Life::kOpen && std::ranges::any_of(waiting_, is_it)) DoCancel();
}

void Session::DoPrompt(Asked asked) {
  Result<protocol::Send> send = ReadPrompt(asked.params()["prompt"], state_.cwd);
  if (!send) return asked.Refuse(send.error());
  if (send->images.empty() && send->text.starts_with('/')) {
    using Kind = client::ParsedLine::Kind;
    const client::ParsedLine line =
        client::ParseLine(send->text, client::Face::kAcp, state_.commands);
    if (line.kind == Kind::kCommand || line.kind == Kind::kExtension)
      return DoCommand(std::move(asked), line);
  }
  // Known from now on: the event of its message comes before the host's word that it was accepted.
  const std::string message_id = "acp_" + RandomName(ProcessRandom(), 16);
  waiting_.push_back({.asked = std::move(asked), .message_id = message_id});
  send->client_message_id = message_id;
  hold_->Send(*send, Then([this, message_id](const Result<protocol::Accepted>& accepted) {
    Sent(message_id, accepted);
  }));
}

void Session::Sent(const std::string& message_id, const Result<protocol::Accepted>& accepted) {
  const auto prompt = std::ranges::find(waiting_, message_id, &Waiting::message_id);
  if (prompt == waiting_.end()) return;  // Its turn has ended already.
  if (!accepted) {
    prompt->asked.Refuse(accepted.error());
    waiting_.erase(prompt);
    return;
  }
  cancelling_ = cancelling_ && prompt->cancelled;
  prompt->item_id = accepted->item_id.value_or("");
  if (prompt->turn_id.empty()) prompt->turn_id = accepted->turn_id.value_or("");
}

void Session::DoCommand(Asked asked, const client::ParsedLine& line) {
  auto done = [this, asked = std::move(asked)](Result<CommandDone> result) mutable {
    if (!result) return asked.Refuse(result.error());
    if (!result->turn_id) {
      TellText(result->text);
      return asked.Answer(R"({"stopReason":"end_turn"})");
    }
    Waiting turn{.asked = std::move(asked)};
    turn.turn_id = *result->turn_id;
    const auto ended = std::ranges::find(ended_, turn.turn_id, &protocol::RuntimeEnd::turn_id);
    if (ended != ended_.end() && life_ == Life::kOpen) return FinishTurn(std::move(turn), *ended);
    waiting_.push_back(std::move(turn));
  };
  RunCommand(line, {.session = *hold_, .inbox = inbox_}, std::move(done));
}

void Session::DoSetMode(Asked asked) {
  protocol::Change change;
  change.mode = asked.params()["modeId"].StringOr("");
  hold_->Change(change, Then([asked = std::move(asked)](const Status& changed) mutable {
                  if (!changed) return asked.Refuse(changed.error());
                  asked.Answer("{}");
                }));
}

void Session::DoSetOption(Asked asked) {
  const JsonView params = asked.params();
  const std::optional<std::string> value = params["value"].String();
  if (!value) return asked.Refuse(Error(Code::kInvalid, "value must be a string"));
  const std::string option = params["configId"].StringOr("");
  WithState([this, asked = std::move(asked), option, value = *value](const Status& known) mutable {
    if (!known) return asked.Refuse(known.error());
    const Result<protocol::Change> change = ReadChoice(option, value, state_);
    if (!change) return asked.Refuse(change.error());
    Choose(std::move(asked), *change);
  });
}

void Session::Choose(Asked asked, const protocol::Change& change) {
  auto chosen = [this, asked = std::move(asked)](const Status& changed) mutable {
    if (!changed) return asked.Refuse(changed.error());
    WithState([this, asked = std::move(asked)](const Status&) mutable {
      std::string result;
      JsonWriter writer(result);
      WriteOptions(writer.BeginObject().Key("configOptions"), state_, models_);
      writer.EndObject();
      asked.Answer(result);
    });
  };
  if (change == protocol::Change()) return chosen({});
  hold_->Change(change, Then(std::move(chosen)));
}

/// What waits in the queue shall not run either.
void Session::DoCancel() {
  cancelling_ = true;
  hold_->Cancel();
  for (Waiting& prompt : waiting_) prompt.cancelled = true;
  // Behind what was sent: it knows which of those prompts are queued.
  WithState([this](const Status&) { TakeBackQueued(); });
}

/// The prompts that were cancelled and wait in the queue are answered, and leave it.
void Session::TakeBackQueued() {
  protocol::QueueItems left = state_.follow_ups;
  std::erase_if(waiting_, [&](Waiting& prompt) {
    if (!prompt.cancelled || !prompt.turn_id.empty()) return false;
    std::erase_if(left,
                  [&](const protocol::QueueItem& item) { return item.item_id == prompt.item_id; });
    prompt.asked.Answer(kCancelledPrompt);
    return true;
  });
  // Ignoring the error on purpose: what was taken meanwhile is the turn that is cancelled.
  if (left.size() != state_.follow_ups.size())
    hold_->RewriteQueue("follow_up", left, Then([](const Status&) {}));
}

}  // namespace stet::acp
