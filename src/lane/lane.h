// Lane: the single writer of one session. Takes what clients send, runs the session's turns one
// after the other, and keeps its queues; everything it knows it could read from the log again.
//
// Belongs to the host's loop: everything here is called on its thread. A turn that ends well goes
// on with the next follow-up; after a cancel, an error or a restart the queues stand still until a
// client sends or continues.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/loop.h"
#include "base/result.h"
#include "protocol/files.h"
#include "protocol/live.h"
#include "protocol/run_report.h"
#include "protocol/session.h"
#include "protocol/tasks.h"
#include "protocol/turn_report.h"

namespace stet::client {
class Services;
}

namespace stet::log {
class Log;
}

namespace stet::protocol {
struct Event;
}

namespace stet::lane {

class LaneWork;
struct LaneParts;
struct LaneSetup;

class Lane {
 public:
  /// Settles what the log was left in the middle of. Fails when the log cannot be written, or when
  /// tools or schema make no sense.
  static Result<std::unique_ptr<Lane>> Open(LaneSetup setup);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] protocol::LiveState State() const;
  [[nodiscard]] log::Log& log();
  /// A turn is under way, or waits for an answer.
  [[nodiscard]] bool working() const;
  /// Nothing at all goes on, in the background neither.
  [[nodiscard]] bool resting() const;

  // `client_id` is the client that sends, answers or marks; it goes into the log. For what each of
  // these means see client::LiveSession.
  Result<protocol::Accepted> Send(const protocol::Send& send, const std::string& client_id);
  /// With a turn's id only that one: nothing when it has ended.
  void Cancel(const std::string& turn_id = "");
  Status Answer(const protocol::PermissionAnswer& answer, const std::string& client_id);
  Status Answer(const protocol::QuestionAnswer& answer, const std::string& client_id);
  Status RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                      const std::string& client_id);
  Status Change(const protocol::Change& change);
  Result<protocol::PermissionReport> Permissions() const;
  Result<protocol::Moved> Rewind(const std::optional<std::string>& target);
  Result<protocol::Moved> Branch(const std::string& leaf);
  /// While it puts files back, the lane takes nothing else.
  Async<Result<protocol::FileRows>> FilesSince(protocol::FilesParams wanted);
  Result<std::vector<protocol::Event>> Recent(std::size_t count) const;
  Result<std::string> Mark(const protocol::Mark& mark, const std::string& client_id);
  /// An extension's command: what to show, or kNotFound. What it wants sent is sent.
  Async<Result<std::string>> RunCommand(std::string name, std::string text, std::string client_id);
  Result<protocol::RunReport> Run();
  Result<protocol::TurnRows> Turns() const;
  std::optional<protocol::TurnReport> Report(const std::string& turn_id) const;
  Result<protocol::TaskRows> Tasks() const;
  Status StopTask(const std::string& task_id);
  Result<protocol::TaskOutput> TaskOutput(const std::string& task_id,
                                          const protocol::TaskRange& range = {}) const;

  /// From now on a client answers what is asked.
  void ExpectAnswers();
  /// The environment is another: so are the keys that are taken out of what tools give.
  void FindSecrets();
  /// What a client does for the session from now on; null: nothing.
  void UseServices(std::shared_ptr<client::Services> services);

  /// Cancels what runs, and ends when all is at rest and the log is closed. One that `sleeps` will
  /// be opened again: hooks are not told of an end.
  Async<Status> Close(bool sleeps = false);

 private:
  explicit Lane(LaneSetup setup);
  Status Prepare();

  Result<protocol::Accepted> Start(const protocol::Send& send, const std::string& client_id);
  Result<protocol::Accepted> Enqueue(const protocol::Send& send, const std::string& client_id);
  Result<protocol::Accepted> Continue();
  Result<protocol::Accepted> Next();
  Result<protocol::Accepted> Compact(const protocol::Send& send);
  [[nodiscard]] protocol::Accepted Started() const;
  [[nodiscard]] Status AtRest() const;

  std::unique_ptr<LaneParts> parts_;
  std::unique_ptr<LaneWork> work_;
  protocol::Texts notes_;  // What a face should say about how the session was opened.
  std::optional<Pending<bool>> looking_;  // At files, or putting them back; set at its end.
};

}  // namespace stet::lane
