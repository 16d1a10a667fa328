// Session: one session that a client of the protocol works with.
//
// Belongs to the agent's thread, and never waits: what it asks of the host and of the files is
// answered through its two inboxes, which the agent polls. Every request is answered exactly once,
// be it because the session has ended. It hears what happens in the session, whichever client
// brought it about, and tells the client.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/asked.h"
#include "acp/asks.h"
#include "acp/commands.h"
#include "acp/editor.h"
#include "acp/history.h"
#include "acp/output.h"
#include "acp/updates.h"
#include "client/inbox.h"
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

using AttachReply = client::Reply<std::unique_ptr<client::LiveSession>>;

/// What a session is made of; what is referred to outlives it.
struct SessionSetup {
  std::string session_id;
  ClientTraits client;
  Output& output;        // For what is told.
  rpc::JsonLines& line;  // For what is asked and answered, which goes the same way.
  /// As client::Live::Attach.
  std::function<void(const protocol::Attach&, client::FaceSide, AttachReply)> attach;
  client::Models& models;
  std::unique_ptr<client::Sessions> sessions;
  /// Another one, for the history: while its events are handed on, the first is asked for blobs.
  std::unique_ptr<client::Sessions> history;
};

class Session {
 public:
  enum class Opening { kNew, kLoad, kResume };

  /// More requests do not wait for the opening.
  static constexpr std::size_t kMaxLater = 1000;

  explicit Session(SessionSetup setup);
  /// One that is not over is given up without waiting for its answers.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens it and answers; kLoad tells the whole history first. One that is open already is not
  /// opened again.
  void Open(Asked asked, const protocol::Attach& attach, Opening opening);
  // Requests about a session that is open; while it is being opened they wait.
  void Prompt(Asked asked) { WhenOpen(std::move(asked), &Session::DoPrompt); }
  void SetMode(Asked asked) { WhenOpen(std::move(asked), &Session::DoSetMode); }
  void SetOption(Asked asked) { WhenOpen(std::move(asked), &Session::DoSetOption); }
  void Close(Asked asked) { WhenOpen(std::move(asked), &Session::DoClose); }
  /// And moves it to the trash.
  void Delete(Asked asked) { WhenOpen(std::move(asked), &Session::DoDelete); }

  void Cancel();
  /// Cancels when that is one of its prompts.
  void CancelRequest(const Raw& id);
  /// The client has gone: cancels what runs. It is over when all is kept.
  void End();

  /// Descriptors that are readable while there is something to hear.
  void AddDescriptors(std::vector<int>& fds) const;
  /// Takes what there is.
  void Hear();

  /// It has been closed, or could not be opened: to be destroyed.
  [[nodiscard]] bool over() const { return life_ == Life::kOver; }
  /// It waits for the host to give it the session.
  [[nodiscard]] bool attaching() const { return life_ == Life::kNew && opening_; }

 private:
  enum class Life {
    kNew,      // No hold yet.
    kOpen,     // There is a hold; while `opening_` is set, the client has not been told so.
    kClosing,  // The hold is not to be asked any more; what it did until then is still told.
    kOver,
  };

  /// A prompt that is not answered yet.
  struct Waiting {
    Asked asked;
    std::string message_id;
    std::string item_id;  // While it is queued.
    std::string turn_id;  // Empty: it has not begun.
    bool cancelled = false;
  };
  /// The request that opens it, until it is answered.
  struct OpeningNow {
    Asked asked;
    Opening opening;
  };
  using Perform = void (Session::*)(Asked asked);
  /// A request that came while it was being opened; one that opens it again has no `perform`.
  struct Later {
    Asked asked;
    Perform perform;
    Opening opening = Opening::kResume;
  };
  /// The history while it is told.
  struct Replaying {
    Updates updates;
    std::shared_ptr<History> history;
    std::optional<Status> read;  // All of it was put in, or could not be.
  };

  [[nodiscard]] Error NotOpen() const;
  void WhenOpen(Asked asked, Perform perform);
  void Wait(Later later);
  void DoLater();

  // Opening, step by step.
  template <class F>
  auto Step(F next);
  void Attached(std::unique_ptr<client::LiveSession> hold);
  void Identify(const protocol::LiveState& state);
  void AskModels();
  void AskCost();
  void Prepare();
  [[nodiscard]] Updates::Sources MakeSources();
  void Replay();
  void TellHistory();
  void TellPast(const protocol::Event& event);
  void FinishReplay();
  void Describe();
  void TellAfterOpening();
  void FailOpening(const Error& error);

  // While it is open. Answers of the hold, given only while that is so.
  template <class F>
  auto Then(F next);
  /// Asks how the session is now. `next` is not called when the host does not say so, unless it
  /// takes why.
  template <class F>
  void WithState(F next);
  void DoPrompt(Asked asked);
  void Sent(const std::string& message_id, const Result<protocol::Accepted>& accepted);
  void DoCommand(Asked asked, const client::ParsedLine& line);
  void DoSetMode(Asked asked);
  void DoSetOption(Asked asked);
  void Choose(Asked asked, const protocol::Change& change);
  void DoClose(Asked asked);
  void DoDelete(Asked asked);
  void DoCancel();
  void TakeBackQueued();

  // Closing. An Ended hears whether all is kept, and sees to it that the session is over.
  using Ended = std::move_only_function<void(const Status&)>;
  void BeginClose(Ended ended);
  void Closed(const Status& closed, Ended ended);
  void Finish(Asked asked, const Status& done);
  void GetOver() { life_ = Life::kOver; }

  [[nodiscard]] bool hears() const;
  void Take(client::News& news);
  void Fetch(const Updates::List& blobs, const std::function<void()>& then);
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
  void FinishTurn(Waiting prompt, const protocol::RuntimeEnd& end);
  void GoOn();
  void GoOnWithQueue();
  [[nodiscard]] static bool IsQueued(const Waiting& prompt);

  void Tell(std::string_view update);
  void TellAll(const Updates::List& updates);
  void TellText(std::string_view text);
  void TellNotice(std::string_view severity, const std::string& text);
  void TellUsage();
  void TellOptions(const protocol::LiveState& state);
  std::string Described(const protocol::LiveState& state, bool with_id) const;

  SessionSetup setup_;
  const std::shared_ptr<Editor> editor_;       // Outlives the session where a host still asks.
  client::Inbox inbox_;                        // Of the hold: what it tells and answers, in order.
  client::Inbox aside_;                        // Of everything else, and of the opening.
  std::unique_ptr<client::LiveSession> hold_;  // Null: not open.
  Life life_ = Life::kNew;
  bool ending_ = false;  // The client has gone.
  std::optional<OpeningNow> opening_;
  std::optional<Replaying> replaying_;
  std::deque<Later> later_;
  protocol::LiveState state_;  // As it was last known.
  bool made_ = false;          // The session is new.
  protocol::ModelList models_;
  std::int64_t window_ = 0;
  std::int64_t cost_ = 0;       // Micro-units.
  std::string usage_;           // As it was last told.
  std::uint64_t told_seq_ = 0;  // Events up to this one were told as history.
  bool cancelling_ = false;     // The client has cancelled: it answers what was asked itself.
  std::optional<Updates> updates_;
  /// What an event needs that waits for it; nothing else is heard until it is there.
  std::map<std::string, std::string> blobs_;
  std::size_t fetching_ = 0;
  Asks asks_;
  std::deque<Waiting> waiting_;
  /// The last turns whose end was heard while no prompt waited for it: the host's word that a
  /// prompt began one may come behind.
  std::deque<protocol::RuntimeEnd> ended_;
};

}  // namespace stet::acp
