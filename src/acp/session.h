// Session: one session that a client of the protocol works with, on a thread of its own.
//
// Everything public is called by the agent's thread, returns at once, and is done in the order of
// the calls. Every request is answered exactly once, be it because the session has ended. It hears
// what happens in the session, whichever client brought it about, and tells the client.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "acp/asks.h"
#include "acp/commands.h"
#include "acp/editor.h"
#include "acp/message.h"
#include "acp/output.h"
#include "acp/updates.h"
#include "acp/worker.h"
#include "client/live.h"
#include "client/models.h"
#include "client/sessions.h"

namespace stet::acp {

/// What the client can do beyond what every one must.
struct ClientTraits {
  bool forms = false;        // Shows forms.
  bool notices = false;      // Shows notices.
  bool compactions = false;  // Shows compactions.
  protocol::Texts offers;    // What it does for a session: files, terminals (client/services.h).
};

/// What a session is made of; what is referred to outlives it.
struct SessionSetup {
  std::string session_id;
  ClientTraits client;
  Output& output;        // For what is told.
  rpc::JsonLines& line;  // For what is asked and answered, which goes the same way.
  client::Live& live;
  std::mutex& attaching;  // One opens a session at a time.
  std::unique_ptr<client::Sessions> sessions;
  /// Another one, for the history: while its events are handed on, the first is asked for blobs.
  std::unique_ptr<client::Sessions> history;
  std::unique_ptr<client::Models> models;
};

class Session {
 public:
  enum class Opening { kNew, kLoad, kResume };

  explicit Session(SessionSetup setup);
  /// Cancels what runs, and waits until all is kept.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens it and answers; kLoad tells the whole history first. One that is open already is not
  /// opened again.
  void Open(Request request, protocol::Attach attach, Opening opening);
  // Requests about a session that is open.
  void Prompt(Request request);
  void SetMode(Request request);
  void SetOption(Request request);
  void Close(Request request);
  /// And moves it to the trash.
  void Delete(Request request);

  void Cancel();
  /// Cancels when that is one of its prompts.
  void CancelRequest(Raw id);
  /// Begins to end, before whatever waits; the destructor waits for it.
  void BeginEnd();

  /// It has been closed, or could not be opened.
  [[nodiscard]] bool over() const { return worker_.ended(); }

 private:
  /// A prompt that is not answered yet.
  struct Waiting {
    Raw id;
    std::string message_id;
    std::string item_id;  // While it is queued.
    std::string turn_id;  // Empty: it has not begun.
    bool cancelled = false;
  };

  // All of the rest belongs to the session's own thread.
  void Post(Request request, void (Session::*perform)(const Request&));
  /// The session as it is now; as it was last known when the host does not answer.
  const protocol::LiveState& Refresh();
  Status Attach(const protocol::Attach& attach);
  void DoOpen(const Request& request, const protocol::Attach& attach, Opening opening);
  [[nodiscard]] Updates::Sources MakeSources();
  Status Replay();
  void TellAfterOpening();
  void DoPrompt(const Request& request);
  void DoCommand(const Request& request, const client::ParsedLine& line);
  void DoSetMode(const Request& request);
  void DoSetOption(const Request& request);
  void DoClose(const Request& request);
  void DoDelete(const Request& request);
  void DoCancel();
  Status End();
  Status CloseHold();

  void Hear(client::News& news);
  void Hear(const protocol::Event& event);
  void Hear(const protocol::Transient& transient);
  void HearInfo(const protocol::SessionInfo& info);
  void HearEnd(const protocol::RuntimeEnd& end);
  bool IsOwn(const protocol::Event& event, const protocol::UserMessage& message);
  void AskOpen(const protocol::LiveState& state);
  void Ask(const protocol::Ask& ask);
  [[nodiscard]] std::optional<Outgoing> Put(const protocol::PermissionAsk& ask);
  [[nodiscard]] std::optional<Outgoing> Put(const protocol::QuestionAsk& ask);
  void Take(const std::string& ask_id, const Result<Raw>& said);
  void Withdraw(const std::string& id);
  void Reply(const Waiting& prompt, const protocol::RuntimeEnd& end);
  void GoOn();

  void Tell(std::string_view update);
  void TellAll(const Updates::List& updates);
  void TellText(std::string_view text);
  void TellNotice(std::string_view severity, const std::string& text);
  void TellUsage();
  void TellOptions(const protocol::LiveState& state);
  void Respond(const Raw& id, std::string_view result);
  void Refuse(const Raw& id, const Error& error);
  std::string Described(const protocol::LiveState& state, bool with_id) const;

  SessionSetup setup_;
  const std::shared_ptr<Editor> editor_;       // Outlives the session where a host still asks.
  std::unique_ptr<client::LiveSession> hold_;  // Null: not open.
  protocol::LiveState state_;                  // As it was last known.
  bool made_ = false;                          // The session is new.
  protocol::ModelList models_;
  std::string cwd_;
  std::int64_t window_ = 0;
  std::int64_t cost_ = 0;       // Micro-units.
  std::string usage_;           // As it was last told.
  std::uint64_t told_seq_ = 0;  // Events up to this one were told as history.
  bool cancelling_ = false;     // The client has cancelled: it answers what was asked itself.
  std::optional<Updates> updates_;
  Asks asks_;
  std::deque<Waiting> waiting_;
  Worker worker_;  // The last: its thread uses all of the above.
};

}  // namespace stet::acp
