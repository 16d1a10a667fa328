// Lanes: the one owner of a process's live sessions: which of them are awake, and what it takes to
// wake the others.
//
// A session that is awake has a lane, which holds the log's lock. One that sleeps holds nothing but
// how it was opened the last time. Lanes knows no client: what wants to hear a session is its
// listener, which gets the log at every opening, before anything is appended to it.
//
// Belongs to the loop; so do the lanes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/environment.h"
#include "base/loop.h"
#include "client/live.h"
#include "config/roots.h"
#include "protocol/header.h"

namespace stet::log {
class Log;
}

namespace stet::device {
class ModelAccess;
}

namespace stet::lane {

class Lane;

enum class Presence {
  kAsleep,   // It has no lane, and its lock is free: waking it opens one.
  kOpening,  // Its lane is being made: the log is open, and nothing can be asked of it yet.
  kAwake,    // It has a lane.
  kClosing,  // Its lane ends what runs; a caller that wants it awake waits for that end first.
};

class LaneListener {
 public:
  virtual ~LaneListener() = default;
  /// The log of the session's lane, before the lane has appended anything; of a lane that is awake
  /// already, as it is. Valid until Closed, or until it is called again: for a log that had to be
  /// scanned.
  virtual void Opened(log::Log& log) = 0;
  /// The lane is gone, or could not be made.
  virtual void Closed() = 0;
};

/// For whom a session is opened.
struct Asking {
  std::string client_id = {};
  bool others_hold = false;  // Clients beside it have the session open.
  bool may_loosen = true;    // Else what the session's log forbids stays forbidden.
};

/// A child session to be made, or to be opened again. What is empty or absent is as its parent has
/// it, or as the log of the child does.
struct ChildOpening {
  std::string parent_id;
  std::string child_id;
  std::optional<protocol::Header> header =
      {};  // Of one that is to be made: kind, agent, task, call.
  std::string cwd = {};
  std::string model = {};
  std::string mode = {};
  std::optional<std::vector<std::string>> tools = {};
};

class Lanes {
 public:
  /// All three outlive it.
  Lanes(Loop& loop, const config::Roots& roots, device::ModelAccess& models);
  /// Drops the lanes as they are: what should end well is closed before.
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// The session that `attach` is about, as Open takes it: the one that it names, by its whole id
  /// afterwards, or a name for the one that is to be made or copied, which `attach` has afterwards.
  Result<std::string> Name(protocol::Attach& attach) const;

  // A lane that is given out is valid until the caller waits for something.

  /// Opens the session for work as `attach` says, and makes or copies it where `attach` says so.
  /// One that others hold is joined as it is: kConflict names what `attach` wants otherwise. One
  /// that is awake and that none holds is joined when its options are the same: model, effort and
  /// mode are changed at once. Else it takes a session that rests, which is then opened anew (kBusy
  /// when it does not rest). kBusy, naming the holder, when another process works on it; kConflict
  /// when one is to be made that there is already.
  Async<Result<Lane*>> Open(std::string id, protocol::Attach attach,
                            std::optional<Environment> environment, Asking asking);
  /// For the user of this process. (No default argument: GCC 12 destroys one twice in a co_await.)
  Async<Result<Lane*>> Open(std::string id, protocol::Attach attach,
                            std::optional<Environment> environment) {
    return Open(std::move(id), std::move(attach), std::move(environment), Asking());
  }
  /// No client holds the session any more: the options that it was opened with count for what runs,
  /// and for nothing that a client starts later, but `unless_opened_by`. What they forbid stands in
  /// the log, and holds until a client that may loosen opens the session.
  void Release(const std::string& id, const std::string& unless_opened_by = {});
  /// Before a client starts something: a lane with options of clients that have let go is closed,
  /// and wakes without them. kBusy while what those started still runs.
  Async<Status> EndLeftOptions(std::string id);
  /// Its lane, awake; as it was opened the last time, or as its log says.
  Async<Result<Lane*>> Wake(std::string id);
  /// Opens a child for work under its parent's rules, limits and environment; the parent is woken
  /// for that. Otherwise as Open.
  Async<Result<Lane*>> OpenChild(ChildOpening child);
  /// Closes the lane, if there is one: cancelling what runs, unless it rests. One that `sleeps`
  /// will be woken again.
  Async<Status> Close(std::string id, bool sleeps);
  /// Closes every lane; failures are logged.
  Async<void> CloseAll();

  [[nodiscard]] Presence presence(const std::string& id) const;
  /// Null while it sleeps.
  [[nodiscard]] Lane* Find(const std::string& id) const;
  /// Whether something goes on in it, in the background too.
  [[nodiscard]] bool working(const std::string& id) const;
  /// How many have a lane, and in how many something goes on.
  [[nodiscard]] std::size_t awake_count() const;
  [[nodiscard]] std::size_t working_count() const;

  /// What its commands and keys are taken from, from now on. Until then: this process's.
  void SetEnvironment(const std::string& id, Environment environment);
  /// What a client does for the session from now on, asleep or not; of several the last one counts.
  void UseServices(const std::string& id, std::shared_ptr<client::Services> services);
  /// That client does nothing more for it.
  void DropServices(const std::string& id, const client::Services& services);

  /// Of several listeners of a session the last one counts.
  void Listen(const std::string& id, LaneListener& listener);
  void Unlisten(const std::string& id, const LaneListener& listener);
  /// Gives back what is kept of a session that sleeps and has no listener: the next waking goes by
  /// its log.
  void Forget(const std::string& id);

 private:
  struct Session;
  using SessionPtr = std::shared_ptr<Session>;

  enum class Opening { kWoken, kAsked, kAskedWithoutLoosening };

  SessionPtr Get(const std::string& id);
  [[nodiscard]] Session* Known(const std::string& id) const;
  Async<SessionPtr> AwaitClosed(std::string id);
  static Status TakeAsItIs(const Session& session, protocol::Attach& attach);
  Async<Result<Lane*>> OpenAnew(SessionPtr session, protocol::Attach attach, bool may_loosen);
  static bool Serves(const Session& session, const protocol::Attach& attach);
  Async<Status> CloseResting(std::string id);
  Async<Status> EndDamaged(std::string id);
  Status Join(Session& session, const protocol::Attach& attach) const;
  Status OpenNow(Session& session, Opening how) const;

  Loop& loop_;
  const config::Roots& roots_;
  device::ModelAccess& models_;
  std::map<std::string, SessionPtr> sessions_;
};

}  // namespace stet::lane
