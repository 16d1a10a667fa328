// How a session is opened at a terminal: attached, its end shown, what waits in it said.
#include <utility>

#include <fmt/format.h>

#include "base/version.h"
#include "tui/interactive_session.h"
#include "tui/picker.h"
#include "tui/transcript_rows.h"

namespace stet::tui {

void InteractiveSession::Attached(Result<std::unique_ptr<client::LiveSession>> attached) {
  if (!attached) {
    failed_ = attached.error();
    return;
  }
  session_ = *std::move(attached);
  MakeEnvironment();
  session_->State(Later("state", [this](Result<protocol::LiveState> state) {
    if (!state) {
      failed_ = state.error();
      return;
    }
    state_ = *std::move(state);
    ShowOpening();
  }));
}

void InteractiveSession::MakeEnvironment() {
  environment_.emplace(
      CommandEnvironment{.session = *session_,
                         .sessions = setup_.sessions,
                         .device = setup_.device,
                         .view = view_,
                         .console = setup_.console,
                         .inbox = inbox_,
                         .waits = waits_,
                         .state = state_,
                         .ask = [this](Dialog dialog) { Ask(std::move(dialog)); },
                         .write = [this](std::string text) { editor_.SetText(std::move(text)); },
                         .leave = [this](Leaving leaving) { leaving_ = std::move(leaving); },
                         .begin = [this](const auto& turn_id) { TurnBegan(turn_id); },
                         .pick_session =
                             [this](const std::vector<protocol::SessionSummary>& sessions) {
                               screen_.Hide();
                               setup_.tty.Write(screen_.Take());
                               return PickSession(sessions, setup_.tty);
                             }});
}

void InteractiveSession::ShowOpening() {
  view_.Note(fmt::format("stet {}  {}  mode {}  {}  /help", ProgramVersion(), state_.model,
                         state_.mode, state_.cwd));
  for (const std::string& note : state_.notes) view_.Note(note, face::Style::kYellow);
  if (!resumed_) return Opened();
  const auto shown = [this](Result<std::vector<protocol::Event>> path) {
    if (path) return ShowRest(*std::move(path));
    environment_->Complain(path.error());
    ShowWhatWaits();
  };
  session_->Recent(kShownEvents, Later("history", shown));
}

/// What of the session's end was not shown yet.
void InteractiveSession::ShowRest(std::vector<protocol::Event> path) {
  const auto show = [this](Result<std::vector<protocol::Event>> end) {
    if (end)
      ShowEvents(transcript_.Reconcile(*std::move(end), kShownEvents), view_);
    else
      environment_->Complain(end.error());
    ShowWhatWaits();
  };
  if (!transcript_.NeedsMore(path)) return show(std::move(path));
  session_->Recent(client::Transcript::kMost, Later("history", show));
}

void InteractiveSession::ShowWhatWaits() {
  const std::size_t queued = state_.follow_ups.size() + state_.steers.size();
  if (queued > 0)
    view_.Note(fmt::format("{} queued: /queue shows, /continue goes on with it", queued),
               face::Style::kYellow);
  if (state_.interrupted)
    view_.Note("the last turn did not come to its end: /continue goes on with it",
               face::Style::kYellow);
  if (state_.state != "idle") view_.Begin();
  for (const protocol::Ask& ask : protocol::OpenAsks(state_)) Put(ask);
  Opened();
}

/// What came while the session was being opened has its turn now.
void InteractiveSession::Opened() {
  opened_ = true;
  for (const client::News& news : std::exchange(early_news_, {})) {
    if (const auto* event = std::get_if<protocol::Event>(&news)) Take(*event);
    if (const auto* transient = std::get_if<protocol::Transient>(&news)) Take(*transient);
  }
  if (!prompt_.empty()) Send(std::exchange(prompt_, ""), false);
  for (const std::string& line : std::exchange(early_lines_, {})) Submit(line);
}

}  // namespace stet::tui
