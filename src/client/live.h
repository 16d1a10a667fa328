// Live: how a face takes part in sessions that are being worked on. An interface, so that faces
// know no host: in this process now, over a socket the same.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/reply.h"
#include "client/services.h"
#include "client/sessions.h"
#include "protocol/ask.h"
#include "protocol/event.h"
#include "protocol/files.h"
#include "protocol/live.h"
#include "protocol/run_report.h"
#include "protocol/tasks.h"
#include "protocol/transient.h"
#include "protocol/turn_report.h"

namespace stet::client {

/// Hears a session live, in the order of seq: one of the two is null. Called on a thread of the
/// host's; must not block, and must not call the session.
using Watcher = std::function<void(const protocol::Event*, const protocol::Transient*)>;

/// One face's hold on one session. Every call returns at once, from any one thread, and is answered
/// once, in the order of the calls as far as the host answers them in order; an event that the host
/// published before an answer is heard before it. A call to a host in another process ends by its
/// deadline (kTimeout, kUnavailable); a question to a person has none, because its answer is a call
/// of its own. When the session is closed, what was not answered is kCancelled.
///
/// Destroying it closes it as well, and waits until all is kept; a face that must not wait calls
/// Close first.
class LiveSession {
 public:
  virtual ~LiveSession() = default;

  virtual void State(Reply<protocol::LiveState> reply) = 0;

  /// Accepted once its event is in the log: from then on it cannot be lost, and sending the same
  /// clientMessageId again changes nothing.
  virtual void Send(const protocol::Send& send, Reply<protocol::Accepted> reply) = 0;
  /// Ends the turn that is running or waiting now, soon; the queues then stand still. A host that
  /// hears of it when that turn has ended does nothing. From any thread.
  virtual void Cancel() = 0;

  /// kConflict when another client has answered, kNotFound when nothing of that name is open.
  virtual void Answer(const protocol::AskAnswer& answer, Reply<void> reply) = 0;

  /// `queue` is follow_up or steer; the items are all that remain of it, in order.
  virtual void RewriteQueue(const std::string& queue, const protocol::QueueItems& items,
                            Reply<void> reply) = 0;
  virtual void Change(const protocol::Change& change, Reply<void> reply) = 0;

  /// kBusy while a turn runs; a turn that waits is cancelled first. See Sessions for the arguments.
  virtual void Rewind(const std::optional<std::string>& target, Reply<Moved> reply) = 0;
  virtual void Branch(const std::string& leaf, Reply<Moved> reply) = 0;
  /// Files that are not as they were at the target; with `restore`, puts them back. kBusy while a
  /// turn works, and while tasks run that are not to be stopped.
  virtual void FilesSince(const protocol::FilesParams& wanted, Reply<protocol::FileRows> reply) = 0;

  /// Marks it, and says in one line what came of it. kInvalid and kNotFound say what is wrong with
  /// it. While a turn runs, kBusy for a snip of the user's; everything else is done at once.
  virtual void Mark(const protocol::Mark& mark, Reply<std::string> reply) = 0;
  /// Runs an extension's slash command, and gives what to show. kNotFound when there is none.
  virtual void Command(const std::string& name, const std::string& text,
                       Reply<std::string> reply) = 0;
  /// Where the run stands now.
  virtual void Run(Reply<protocol::RunReport> reply) = 0;
  /// The turns that a model is still shown, or was until they were snipped; the newest first.
  virtual void Turns(Reply<protocol::TurnRows> reply) = 0;

  /// The rules that it works under now.
  virtual void Permissions(Reply<protocol::PermissionReport> reply) = 0;

  /// What runs in the background, and what has run there, in the order of their start.
  virtual void Tasks(Reply<protocol::TaskRows> reply) = 0;
  /// Its end follows soon. kNotFound, kConflict when it has ended.
  virtual void StopTask(const std::string& task_id, Reply<void> reply) = 0;
  virtual void TaskOutput(const std::string& task_id, Reply<protocol::TaskOutput> reply) = 0;

  /// The last events on the path to the leaf, at most `count`, the oldest first.
  virtual void Recent(std::size_t count, Reply<std::vector<protocol::Event>> reply) = 0;

  /// How a turn went that ended under this hold; the latest few are known, kNotFound for others.
  virtual void Report(const std::string& turn_id, Reply<protocol::TurnReport> reply) = 0;

  /// Gives the session up, and says whether all of it is kept. A turn that runs in this process is
  /// cancelled first. Nothing else may be called afterwards.
  virtual void Close(Reply<void> reply) = 0;
};

/// What a face brings to a session that it holds.
struct FaceSide {
  Watcher watcher;                               // Hears everything from the session's opening on.
  std::shared_ptr<Services> services = nullptr;  // What it does for the session; null: nothing.
};

/// Whether the host can be heard now, and why not.
struct Link {
  bool connected = true;
  std::string why;
  /// It owes something, is connected, and has said nothing from then on; absent: it speaks.
  std::optional<std::chrono::steady_clock::time_point> silent_since = {};
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

  /// Opens the session, or a new one, and holds it. Answered as calls of a LiveSession are.
  virtual void Attach(const protocol::Attach& attach, FaceSide face,
                      Reply<std::unique_ptr<LiveSession>> reply) = 0;

  /// From any thread: what waits for a host is kCancelled now, and so is what is asked of it
  /// afterwards. For a face that leaves.
  virtual void Abandon() {}

  /// `told` hears how the line to the host is now, and every change of that, on a thread of the
  /// host's; it replaces the one before. A host in this process is always there: nothing is told.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): others keep it.
  virtual void WatchLink(std::function<void(Link)> /*told*/) {}

  /// The newest session of this folder: what `--continue` means. kNotFound when there is none.
  virtual void Latest(const std::string& cwd, Reply<std::string> reply) = 0;
};

}  // namespace stet::client
