// How a session ends: closed by the client, deleted, or because the client has gone.
#include <utility>

#include "acp/session/answers.h"
#include "acp/session/session.h"

namespace stet::acp {

void Session::DoClose(Asked asked) {
  BeginClose([this, asked = std::move(asked)](const Status& closed) mutable {
    Finish(std::move(asked), closed);
  });
}

void Session::DoDelete(Asked asked) {
  BeginClose([this, asked = std::move(asked)](const Status& closed) mutable {
    if (!closed) return Finish(std::move(asked), closed);
    setup_.sessions->Remove(
        setup_.session_id,
        aside_.Then([this, asked = std::move(asked)](const Status& removed) mutable {
          Finish(std::move(asked), removed);
        }));
  });
}

void Session::Finish(Asked asked, const Status& done) {
  if (done)
    asked.Answer("{}");
  else
    asked.Refuse(done.error());
  GetOver();
}

void Session::End() {
  ending_ = true;
  // The client does nothing more for us: a tool that waits for it goes on.
  editor_->End();
  if (life_ == Life::kNew && !opening_) return GetOver();
  if (life_ != Life::kOpen) return;  // It will be attached, or is being closed.
  if (opening_) return FailOpening({Code::kCancelled, "the connection has ended"});
  // Ignoring the error on purpose: the client is gone and cannot hear of it, and the log keeps what
  // it has.
  BeginClose([this](const Status&) { GetOver(); });
}

void Session::BeginClose(Ended ended) {
  life_ = Life::kClosing;
  hold_->Close(inbox_.Then([this, ended = std::move(ended)](const Status& closed) mutable {
    Closed(closed, std::move(ended));
  }));
}

/// Everything that it did and answered was heard before.
void Session::Closed(const Status& closed, Ended ended) {
  for (Waiting& prompt : waiting_) prompt.asked.Answer(R"({"stopReason":"cancelled"})");
  waiting_.clear();
  hold_.reset();
  ended(closed);
}

}  // namespace stet::acp
