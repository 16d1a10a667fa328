// RemoteSession: one hold on a session of a host in another process. See remote_live.h for what it
// guarantees.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/live.h"
#include "client/remote/live.h"
#include "client/remote/thread.h"
#include "client/subscription.h"

namespace stet::client {

/// What every request to a host needs to know.
struct RemoteLink {
  RemoteThread& thread;
  protocol::OptionalTexts environment;  // Absent: not handed over.
  std::chrono::milliseconds patience;
};

class RemoteSession final : public LiveSession {
 public:
  RemoteSession(const RemoteLink& link, std::string session_id);
  /// Closes it, if that was not done. On the client's thread the goodbye is only sent.
  ~RemoteSession() override;

  /// Subscribes, on the client's thread; `ready` hears whether the host has taken it. `reopen` is
  /// as a Subscription has it.
  void Begin(StreamOptions options, std::optional<protocol::Attach> reopen,
             std::shared_ptr<Services> services, Subscription::Ready ready);

  void State(Reply<protocol::LiveState> reply) override;
  void Send(const protocol::Send& send, Reply<protocol::Accepted> reply) override;
  void Cancel() override;
  void Answer(const protocol::AskAnswer& answer, Reply<void> reply) override;
  void RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                    Reply<void> reply) override;
  void Change(const protocol::Change& change, Reply<void> reply) override;
  void Rewind(const std::optional<std::string>& target, Reply<Moved> reply) override;
  void Branch(const std::string& leaf, Reply<Moved> reply) override;
  void FilesSince(const protocol::FilesParams& wanted, Reply<protocol::FileRows> reply) override;
  void Mark(const protocol::Mark& mark, Reply<std::string> reply) override;
  void Command(const std::string& name, const std::string& text, Reply<std::string> reply) override;
  void Run(Reply<protocol::RunReport> reply) override;
  void Turns(Reply<protocol::TurnRows> reply) override;
  void Permissions(Reply<protocol::PermissionReport> reply) override;
  void Tasks(Reply<protocol::TaskRows> reply) override;
  void StopTask(const std::string& task_id, Reply<void> reply) override;
  void TaskOutput(const std::string& task_id, Reply<protocol::TaskOutput> reply) override;
  void Recent(std::size_t count, Reply<std::vector<protocol::Event>> reply) override;
  void Report(const std::string& turn_id, Reply<protocol::TurnReport> reply) override;
  void Close(Reply<void> reply) override;

 private:
  class Line;

  /// Asks M of the host; the reply is what `read` makes of the host's.
  template <protocol::IsMethod M, class T, class Read>
  void Ask(typename M::Params params, const CallOptions& options, const Reply<T>& reply, Read read);
  /// The same for a host's reply that is the answer, or whose content does not matter.
  template <protocol::IsMethod M, class T>
  void Ask(typename M::Params params, const Reply<T>& reply);

  RemoteLink link_;
  const std::string session_id_;
  const std::shared_ptr<Line> line_;  // The thread's.
  bool closed_ = false;
};

}  // namespace stet::client
