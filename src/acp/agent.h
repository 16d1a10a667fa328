// Agent: the agent's side of one connection of the Agent Client Protocol, version 1: what each line
// asks for, and the sessions that are open.
//
// Belongs to one thread, which never waits here: what takes its time is answered through inboxes,
// which the thread polls (AddDescriptors) and has heard here. Whatever a line says, it is answered
// or passed over; nothing ends the connection.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/asked.h"
#include "acp/output.h"
#include "acp/session/session.h"
#include "base/loop_thread.h"
#include "client/inbox.h"
#include "client/live.h"
#include "client/models.h"
#include "client/sessions.h"

namespace stet::acp {

/// How to get at what the agent asks. Only `live` may take its time: it is called on a thread of
/// its own.
struct Clients {
  std::function<Result<std::unique_ptr<client::Sessions>>()> sessions;
  std::function<Result<std::unique_ptr<client::Models>>()> models;
  std::function<Result<std::unique_ptr<client::Live>>()> live;
};

class Agent {
 public:
  /// More are not opened at once.
  static constexpr std::size_t kMaxSessions = 200;
  /// More requests about no session do not wait.
  static constexpr std::size_t kMaxLobby = 1000;
  /// A longer line is refused.
  static constexpr std::size_t kMaxLine = std::size_t{32} << 20;

  /// `output` outlives it.
  Agent(Clients clients, Output& output);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// What the client says, in any pieces.
  void Feed(std::string_view bytes) { line_.Feed(bytes); }
  /// It says no more.
  void Finish() { line_.Finish(); }

  /// Descriptors that are readable while there is something to hear.
  void AddDescriptors(std::vector<int>& fds) const;
  /// Takes what there is.
  void Hear();

  /// Cancels what runs in every session. It is over when all is kept and answered.
  void End();
  [[nodiscard]] bool over() const { return sessions_.empty() && lobby_ == 0; }

 private:
  struct Method;
  /// What waits for the host to be found.
  struct Attaching {
    protocol::Attach attach;
    client::FaceSide face;
    AttachReply reply;
  };

  void On(Request request);
  void On(const Notification& notification);
  void On(const Fault& fault);

  void Initialize(Asked asked);
  void Authenticate(Asked asked);
  void New(Asked asked);
  void Load(Asked asked);
  void Resume(Asked asked);
  void List(Asked asked);
  void Delete(Asked asked);
  void Close(Asked asked);
  void Prompt(Asked asked);
  void SetMode(Asked asked);
  void SetOption(Asked asked);

  void Reopen(Asked asked, Session::Opening opening);
  /// A Reply for what is about no session; `next` gets the request and the answer.
  template <class F>
  auto InLobby(Asked asked, F next);
  Result<client::Sessions*> LobbySessions();
  Result<client::Models*> LobbyModels();
  void Attach(Attaching attaching);
  void FoundHost(Result<std::unique_ptr<client::Live>> live);
  Result<Session*> Make(const std::string& id);
  Result<Session*> Find(const Asked& asked);
  void DropEnded();

  Clients clients_;
  Output& output_;
  rpc::JsonLines line_;
  client::Inbox inbox_;                       // For what is about no session.
  std::unique_ptr<client::Sessions> stored_;  // Null until something is asked of them,
  std::unique_ptr<client::Models> models_;    // as is this one.
  std::unique_ptr<client::Live> live_;        // Null until the first session.
  std::deque<Attaching> attaching_;
  std::size_t lobby_ = 0;  // Requests about no session that are not answered.
  bool initialized_ = false;
  bool ending_ = false;
  ClientTraits client_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::optional<LoopThread> finder_;  // Looks for the host.
};

}  // namespace stet::acp
