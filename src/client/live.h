// Live: how a face takes part in sessions that are being worked on. An interface, so that faces
// know no host: in this process now, over a socket the same.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/services.h"
#include "client/sessions.h"
#include "protocol/event.h"
#include "protocol/live.h"
#include "protocol/run_report.h"
#include "protocol/tasks.h"
#include "protocol/transient.h"
#include "protocol/turn_report.h"

namespace stet::client {

/// Hears a session live, in the order of seq: one of the two is null. Called on a thread of the
/// host's; must not block, and must not call the session.
using Watcher = std::function<void(const protocol::Event*, const protocol::Transient*)>;

/// One face's hold on one session. Calls are made from one thread and may wait for the host, except
/// Cancel, which is for any thread and returns at once.
class LiveSession {
 public:
  virtual ~LiveSession() = default;

  virtual protocol::LiveState State() = 0;

  /// Accepted once its event is in the log: from then on it cannot be lost, and sending the same
  /// clientMessageId again changes nothing.
  virtual Result<protocol::Accepted> Send(const protocol::Send& send) = 0;
  /// Ends the turn that is running or waiting, soon; the queues then stand still.
  virtual void Cancel() = 0;

  /// kConflict when somebody else has answered, kNotFound when nothing of that name is open.
  virtual Status Answer(const protocol::PermissionAnswer& answer) = 0;
  virtual Status Answer(const protocol::QuestionAnswer& answer) = 0;

  /// `queue` is follow_up or steer; the items are all that remain of it, in order.
  virtual Status RewriteQueue(const std::string& queue, const protocol::QueueItems& items) = 0;
  virtual Status Change(const protocol::Change& change) = 0;

  /// kBusy while a turn runs; one that waits is cancelled first. See Sessions for the arguments.
  virtual Result<Moved> Rewind(const std::optional<std::string>& target) = 0;
  virtual Result<Moved> Branch(const std::string& leaf) = 0;
  /// Files that were written after `target` and can be put back; with `restore`, puts them back.
  virtual Result<protocol::FileRows> FilesSince(const std::optional<std::string>& target,
                                                bool restore) = 0;

  /// Marks it, and says in one line what came of it. kInvalid and kNotFound say what is wrong with
  /// it. While a turn runs, kBusy for a snip of the user's; everything else is done at once.
  virtual Result<std::string> Mark(const protocol::Mark& mark) = 0;
  /// Runs an extension's slash command, and gives what to show. kNotFound when there is none.
  virtual Result<std::string> Command(const std::string& name, const std::string& text) = 0;
  /// Where the run stands now.
  virtual Result<protocol::RunReport> Run() = 0;
  /// The turns that a model is still shown, or was until they were snipped; the newest first.
  virtual Result<protocol::TurnRows> Turns() = 0;

  /// The rules that it works under now.
  virtual Result<protocol::PermissionReport> Permissions() = 0;

  /// What runs in the background, and what has run there, in the order of their start.
  virtual Result<protocol::TaskRows> Tasks() = 0;
  /// Its end follows soon. kNotFound, kConflict when it has ended.
  virtual Status StopTask(const std::string& task_id) = 0;
  virtual Result<protocol::TaskOutput> TaskOutput(const std::string& task_id) = 0;

  /// The last events on the path to the leaf, at most `count`, the oldest first.
  virtual Result<std::vector<protocol::Event>> Recent(std::size_t count) = 0;

  /// How a turn went that ended under this hold; the latest few are known.
  virtual std::optional<protocol::TurnReport> Report(const std::string& turn_id) = 0;

  /// Gives the session up, and says whether all of it is kept. A turn that runs is cancelled first.
  /// Nothing else may be called afterwards.
  virtual Status Close() = 0;
};

/// What sessions are wanted for, and so where they are worked on.
enum class Work {
  kConversation,  // In the background host, started when there is none, unless configured
                  // otherwise.
  kNewSession,    // In this process.
  kOldSession,    // In the host that runs, if one does; else in this process.
  kBackground,    // In the background host in any case.
};

class Live {
 public:
  virtual ~Live() = default;

  /// `watcher` hears everything from the moment the session is open. Destroying the hold closes it.
  /// `services`, if any, are what the face does for the session while it holds it.
  virtual Result<std::unique_ptr<LiveSession>> Attach(
      const protocol::Attach& attach, Watcher watcher,
      std::shared_ptr<Services> services = nullptr) = 0;

  /// From any thread: whoever waits for a host is told kCancelled now, and so is whoever asks it
  /// anything afterwards. For a face that leaves.
  virtual void Abandon() {}

  /// The newest session of this folder: what `--continue` means. kNotFound when there is none.
  virtual Result<std::string> Latest(const std::string& cwd) = 0;
};

}  // namespace stet::client
