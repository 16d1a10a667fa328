// InteractiveSession: one session at a terminal, from its opening to its end. Waits for keys, news
// and signals at once, and draws what they change.
//
// It never waits for the host alone: what it asks is answered through the inbox, and until then
// keys are taken and drawn. What it knows of the session is one scene, begun from the host's state
// and fed with what is heard; when the line to the host was lost the scene is begun anew.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/device.h"
#include "client/inbox.h"
#include "client/live.h"
#include "client/scene/scene.h"
#include "client/sessions.h"
#include "client/transcript.h"
#include "face/console.h"
#include "face/waits.h"
#include "protocol/ask.h"
#include "tui/command_environment.h"
#include "tui/line_editor/line_editor.h"
#include "tui/live_view/live_view.h"
#include "tui/screen.h"
#include "tui/tty.h"

namespace stet::tui {

/// What a session at a terminal is made of; everything referred to outlives it.
struct InteractiveSetup {
  client::Live& live;
  client::Sessions& sessions;
  client::Device& device;
  Tty& tty;
  face::Console& console;
  History& history;
  std::int64_t bell_after_ms;
};

class InteractiveSession {
 public:
  /// `transcript` outlives it.
  InteractiveSession(const InteractiveSetup& setup, client::Transcript& transcript);

  /// Attaches, sends `prompt` if there is one, and ends when the user leaves. An error: it could
  /// not be attached, or not all of it is kept.
  Result<Leaving> Run(const protocol::Attach& attach, const std::string& prompt);

 private:
  /// A message that the host has not accepted yet.
  struct Unsent {
    std::string message_id;
    std::string text;
  };

  /// A Reply whose answer is given to `next`; until then it is a wait for `what`.
  template <class F>
  auto Later(std::string_view what, F next) {
    return inbox_.Then(
        [this, wait = waits_.Begin(what), next = std::move(next)](auto answer) mutable {
          waits_.End(wait);
          next(std::move(answer));
        });
  }

  void Attached(Result<std::unique_ptr<client::LiveSession>> attached);
  void MakeEnvironment();
  void ShowOpening(const protocol::LiveState& state);
  void ShowRest(std::vector<protocol::Event> path, bool interrupted);
  void ShowWhatWaits(bool interrupted);
  void Opened();

  void Wait();
  void TakeKeys();
  void TakeNews();
  void TakeSignals();
  void Take(const protocol::Event& event);
  void Take(const protocol::Transient& transient);
  void Heard(const client::SceneChanges& changes);
  void LinkChanged(client::Link link);
  void TurnBegan(const std::optional<std::string>& turn_id);
  void TurnEnded(const client::TurnItem& turn);
  void Draw();
  [[nodiscard]] EditorRows Bottom() const;
  [[nodiscard]] std::string StatusRow() const;
  [[nodiscard]] bool shows_waits() const;
  Status Close();

  void Press(const Key& key);
  void CompleteCommand();
  void PressInDialog(const Key& key);
  bool StopTurn();
  void Interrupt();
  void Suspend();
  void Resize();
  void Leave(int exit_code) { leaving_ = Leaving{.exit_code = exit_code, .next_session = {}}; }
  void Submit(const std::string& text);
  void Send(const std::string& text, bool steer);
  void Sent(const Unsent& sent, const Result<protocol::Accepted>& accepted);

  /// The user is asked what the scene has as asked, but for what is being answered.
  void MatchDialogs();
  void AskPermission(const protocol::PermissionAsk& ask);
  void AnswerPermission(const protocol::PermissionAsk& ask, const std::string& key,
                        bool sure = false);
  void MakeSure(const protocol::PermissionAsk& ask, const std::string& key);
  void Deny(const std::string& request_id, const std::string& message);
  void AskQuestion(const protocol::QuestionAsk& ask);
  void AnswerQuestion(const protocol::QuestionAsk& ask, const std::string& said);
  /// Answers it, and calls `done` when the host has taken the answer; else what waits is put again.
  void Answer(const protocol::AskAnswer& answer, std::function<void()> done);
  [[nodiscard]] bool IsOpen(const std::string& id) const;
  void Ask(Dialog dialog);
  void DropDialog(const std::string& id);
  void AnswerDialog(const std::string& said);
  [[nodiscard]] bool dialog_has_keys() const {
    return !dialogs_.empty() && !dialogs_.front().keys.empty();
  }
  /// How long until keys answer the dialog: its choices appear when nothing was typed for a moment,
  /// so that what was meant for the line is no answer. Zero: they do.
  [[nodiscard]] std::chrono::milliseconds until_keys_answer() const;

  InteractiveSetup setup_;
  client::Transcript& transcript_;
  Screen screen_;
  client::Scene scene_;
  LiveView view_;
  face::Waits waits_;
  client::Inbox inbox_;
  std::unique_ptr<client::LiveSession> session_;  // Null until it is attached.
  client::Link link_;                             // To the host.
  bool resumed_ = false;                          // The session is not new.
  bool opened_ = false;                           // What there was is shown.
  std::optional<Error> failed_;                   // It could not be opened.
  std::deque<client::News> early_news_;           // Heard before it was opened.
  std::string prompt_;                            // Sent when it is opened.
  std::deque<std::string> early_lines_;           // Submitted before it was opened.
  std::deque<Unsent> unsent_;
  std::optional<Unsent> doubtful_;  // Failed such that it may have been done.
  std::optional<CommandEnvironment> environment_;
  KeyReader keys_;
  LineEditor editor_;
  LineEditor dialog_editor_;
  std::deque<Dialog> dialogs_;  // The first one is shown.
  bool burst_ = false;          // More keys than one came at once.
  /// When the first dialog came, or a key that came before its choices.
  std::chrono::steady_clock::time_point typed_at_;
  std::set<std::string> answering_;  // Asks whose answer is on its way, or was not needed.
  std::optional<Leaving> leaving_;
  std::optional<std::chrono::steady_clock::time_point> interrupted_;  // By the last Ctrl-C.
};

}  // namespace stet::tui
