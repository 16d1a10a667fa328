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
    Heard(scene_.Begin(*state));
    ShowOpening(*std::move(state));
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
                         .scene = scene_,
                         .ask = [this](Dialog dialog) { Ask(std::move(dialog)); },
                         .write = [this](std::string text) { editor_.SetText(std::move(text)); },
                         .leave = [this](Leaving leaving) { leaving_ = std::move(leaving); },
                         .began = [this](const auto& turn_id) { TurnBegan(turn_id); },
                         .pick_session =
                             [this](const std::vector<protocol::SessionSummary>& sessions) {
                               screen_.Hide();
                               setup_.tty.Write(screen_.Take());
                               return PickSession(sessions, setup_.tty);
                             }});
}

void InteractiveSession::ShowOpening(const protocol::LiveState& state) {
  view_.Note(fmt::format("stet {}  {}  mode {}  {}  /help", ProgramVersion(), state.model,
                         state.mode, state.cwd));
  for (const std::string& note : state.notes) view_.Note(note, face::Style::kYellow);
  if (!resumed_) return Opened();
  const auto shown = [this,
                      interrupted = state.interrupted](Result<std::vector<protocol::Event>> path) {
    if (path) return ShowRest(*std::move(path), interrupted);
    environment_->Complain(path.error());
    ShowWhatWaits(interrupted);
  };
  session_->Recent(kShownEvents, Later("history", shown));
}

/// What of the session's end was not shown yet.
void InteractiveSession::ShowRest(std::vector<protocol::Event> path, bool interrupted) {
  const auto show = [this, interrupted](Result<std::vector<protocol::Event>> end) {
    if (end)
      ShowEvents(transcript_.Reconcile(*std::move(end), kShownEvents), scene_, view_);
    else
      environment_->Complain(end.error());
    ShowWhatWaits(interrupted);
  };
  if (!transcript_.NeedsMore(path)) return show(std::move(path));
  session_->Recent(client::Transcript::kMost, Later("history", show));
}

/// `interrupted`: the last turn was, when the session was opened.
void InteractiveSession::ShowWhatWaits(bool interrupted) {
  const std::size_t queued = scene_.follow_ups().size() + scene_.steers().size();
  if (queued > 0)
    view_.Note(fmt::format("{} queued: /queue shows, /continue goes on with it", queued),
               face::Style::kYellow);
  if (interrupted)
    view_.Note("the last turn did not come to its end: /continue goes on with it",
               face::Style::kYellow);
  Opened();
}

/// What came while the session was being opened has its turn now.
void InteractiveSession::Opened() {
  for (const client::News& news : std::exchange(early_news_, {})) {
    if (const auto* event = std::get_if<protocol::Event>(&news)) Take(*event);
    if (const auto* transient = std::get_if<protocol::Transient>(&news)) Take(*transient);
  }
  // Only now: what was asked and answered meanwhile is not put to the user.
  opened_ = true;
  MatchDialogs();
  if (!prompt_.empty()) Send(std::exchange(prompt_, ""), false);
  for (const std::string& line : std::exchange(early_lines_, {})) Submit(line);
}

}  // namespace stet::tui
