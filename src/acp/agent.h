// Agent: the agent's side of one connection of the Agent Client Protocol, version 1: what each line
// asks for, and the sessions that are open.
//
// Belongs to one thread, which never waits here: what takes its time is done on the threads of the
// sessions, and on one for what is about no session. Whatever a line says, it is answered or passed
// over; nothing ends the connection.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "acp/message.h"
#include "acp/output.h"
#include "acp/session.h"
#include "acp/worker.h"
#include "client/live.h"
#include "client/models.h"
#include "client/sessions.h"

namespace stet::acp {

/// How to get at what the agent asks.
struct Clients {
  std::function<Result<std::unique_ptr<client::Sessions>>()> sessions;
  std::function<Result<std::unique_ptr<client::Models>>()> models;
  std::function<Result<std::unique_ptr<client::Live>>()> live;
};

class Agent {
 public:
  /// More are not opened at once.
  static constexpr std::size_t kMaxSessions = 200;
  /// A longer line is refused.
  static constexpr std::size_t kMaxLine = std::size_t{32} << 20;

  /// `output` outlives it.
  Agent(Clients clients, Output& output);
  /// Cancels what runs in every session, and waits until all is kept.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// What the client says, in any pieces.
  void Feed(std::string_view bytes) { line_.Feed(bytes); }
  /// It says no more.
  void Finish() { line_.Finish(); }

 private:
  using Params = JsonView;
  struct Method;

  void On(Request request);
  void On(const Notification& notification);
  void On(const Fault& fault);

  Status Initialize(Request request);
  Status Authenticate(Request request);
  Status New(Request request);
  Status Load(Request request);
  Status Resume(Request request);
  Status List(Request request);
  Status Delete(Request request);
  Status Close(Request request);
  Status Prompt(Request request);
  Status SetMode(Request request);
  Status SetOption(Request request);

  Status Reopen(Request request, Session::Opening opening);
  Status Lobby(Request request, std::function<Result<std::string>(const Request&)> perform);
  Result<Session*> Make(const std::string& id);
  Result<Session*> Find(const Request& request);
  void DropEnded();

  Clients clients_;
  Output& output_;
  rpc::JsonLines line_;
  std::unique_ptr<client::Live> live_;  // Null until the first session.
  std::mutex attaching_;
  bool initialized_ = false;
  ClientTraits client_;
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  Worker lobby_;  // For what is about no session.
};

}  // namespace stet::acp
