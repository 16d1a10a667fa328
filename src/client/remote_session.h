// RemoteSession: one hold on a session of a host in another process. See remote_live.h for what it
// guarantees.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/live.h"
#include "client/remote_live.h"
#include "client/remote_thread.h"
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
  ~RemoteSession() override;

  /// Subscribes; fails as the host does. `reopen` is as a Subscription has it.
  Status Begin(StreamOptions options, std::optional<protocol::Attach> reopen = {},
               std::shared_ptr<Services> services = nullptr);

  protocol::LiveState State() override;
  Result<protocol::Accepted> Send(const protocol::Send& send) override;
  void Cancel() override;
  Status Answer(const protocol::PermissionAnswer& answer) override;
  Status Answer(const protocol::QuestionAnswer& answer) override;
  Status RewriteQueue(const std::string& queue, const protocol::QueueItems& items) override;
  Status Change(const protocol::Change& change) override;
  Result<Moved> Rewind(const std::optional<std::string>& target) override;
  Result<Moved> Branch(const std::string& leaf) override;
  Result<protocol::FileRows> FilesSince(const std::optional<std::string>& target,
                                        bool restore) override;
  Result<std::string> Mark(const protocol::Mark& mark) override;
  Result<std::string> Command(const std::string& name, const std::string& text) override;
  Result<protocol::RunReport> Run() override;
  Result<protocol::TurnRows> Turns() override;
  Result<protocol::PermissionReport> Permissions() override;
  Result<protocol::TaskRows> Tasks() override;
  Status StopTask(const std::string& task_id) override;
  Result<protocol::TaskOutput> TaskOutput(const std::string& task_id) override;
  Result<std::vector<protocol::Event>> Recent(std::size_t count) override;
  std::optional<protocol::TurnReport> Report(const std::string& turn_id) override;
  Status Close() override;

 private:
  /// The params of M for this session.
  template <protocol::IsMethod M>
  [[nodiscard]] typename M::Params ParamsOf() const;
  /// Waits for the reply; no longer than the link's patience, unless the options say otherwise.
  template <protocol::IsMethod M>
  Replied<M> Call(typename M::Params params, std::optional<bool> repeatable = {});

  RemoteLink link_;
  const std::string session_id_;
  std::unique_ptr<Subscription> subscription_;  // The thread's.
  protocol::LiveState last_state_;
};

}  // namespace stet::client
