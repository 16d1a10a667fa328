// InteractiveSession: one session at a terminal, from its opening to its end. Waits for keys, news
// and signals at once, and draws what they change.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "cli/interactive_desk.h"
#include "cli/interactive_screen.h"
#include "cli/interactive_tty.h"
#include "cli/line_editor.h"
#include "cli/live_view.h"
#include "cli/terminal.h"
#include "client/device.h"
#include "client/inbox.h"
#include "client/live.h"
#include "client/sessions.h"
#include "client/transcript.h"
#include "protocol/ask.h"

namespace stet::cli {

/// What a session at a terminal is made of; everything referred to outlives it.
struct InteractiveSetup {
  client::Live& live;
  client::Sessions& sessions;
  client::Device& device;
  Tty& tty;
  Terminal& terminal;
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
  Status AwaitSession(const protocol::Attach& attach);
  void WaitForHost();
  void ShowOpening(bool resumed);
  void ShowRest();
  void Wait();
  void TakeKeys();
  void TakeNews();
  void TakeSignals();
  void Take(const protocol::Event& event);
  void Take(const protocol::Transient& transient);
  void TurnEnded(const protocol::RuntimeEnd& end);
  void Draw();
  [[nodiscard]] EditorRows Bottom() const;
  [[nodiscard]] std::string StatusRow() const;
  Status Close();

  void Press(const Key& key);
  void CompleteCommand();
  void PressInDialog(const Key& key);
  void Interrupt();
  void Suspend();
  void Resize();
  void Submit(const std::string& text);
  void Send(const std::string& text, bool steer);

  /// Puts it to the user, unless it is put already.
  void Put(const protocol::Ask& ask);
  void AskPermission(const protocol::PermissionAsk& ask);
  void AnswerPermission(const protocol::PermissionAsk& ask, const std::string& key);
  void Deny(const std::string& request_id, const std::string& message);
  void AskQuestion(const protocol::QuestionAsk& ask);
  void AnswerQuestion(const protocol::QuestionAsk& ask, const std::string& said);
  void NotAnswered(const Error& error);
  void TakeOpenAsks();
  [[nodiscard]] bool IsOpen(const std::string& id) const;
  void Ask(Dialog dialog);
  void DropDialog(const std::string& id);
  void AnswerDialog(const std::string& said);
  [[nodiscard]] bool dialog_has_keys() const {
    return !dialogs_.empty() && !dialogs_.front().keys.empty();
  }

  InteractiveSetup setup_;
  client::Transcript& transcript_;
  Screen screen_;
  LiveView view_;
  client::Inbox inbox_;
  std::unique_ptr<client::LiveSession> session_;
  bool made_ = false;  // The session is new.
  std::optional<Desk> desk_;
  KeyReader keys_;
  LineEditor editor_;
  LineEditor dialog_editor_;
  std::deque<Dialog> dialogs_;  // The first one is shown.
  std::optional<Leaving> leaving_;
  bool held_up_ = false;  // The host has not answered yet.
  std::optional<std::chrono::steady_clock::time_point> interrupted_;  // By the last Ctrl-C.
};

}  // namespace stet::cli
