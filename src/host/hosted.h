// Hosted: one session in a host: its lane while it is awake, its hub for the clients that listen,
// and what it takes to wake it up again.
//
// An awake session holds the log's lock; one that sleeps holds nothing, and is read from its file.
// When another process holds it, its file is followed: events only. Belongs to the loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/file_watch.h"
#include "base/loop.h"
#include "config/roots.h"
#include "host/feed.h"
#include "host/lane.h"
#include "host/model_access.h"

namespace stet::host {

/// What all sessions of a host share; outlives them.
struct HostShared {
  Loop& loop;
  const config::Roots& roots;
  ModelAccess& models;
  KeptBudget& kept;
  FileWatch& files;
};

class Hosted final : public FeedSource {
 public:
  /// `dir` is where the session lies, or will when Make has made it.
  Hosted(HostShared& shared, std::string session_id, std::string dir);
  ~Hosted() override;
  Hosted(const Hosted&) = delete;
  Hosted& operator=(const Hosted&) = delete;

  /// Makes a session, or copies one, as `attach` says. Its id is known afterwards.
  static Result<std::unique_ptr<Hosted>> Make(HostShared& shared, const protocol::Attach& attach,
                                              const std::optional<Environment>& environment);

  [[nodiscard]] const std::string& id() const override { return id_; }
  /// The file with what the host did for it, for developers who look into a failure.
  [[nodiscard]] std::string diagnostics() const;
  [[nodiscard]] bool awake() const { return lane_ != nullptr; }
  [[nodiscard]] bool working() const { return lane_ && !lane_->resting(); }
  /// Null while it sleeps.
  [[nodiscard]] Lane* lane() { return lane_.get(); }
  Hub& hub() override { return hub_; }

  /// Opens it for work as `attach` says. One that is awake is joined: what can change at once is
  /// changed; anything else takes a session that rests, which is then opened anew. kBusy, naming
  /// the holder, when another process works on it.
  Async<Status> Open(protocol::Attach attach, std::optional<Environment> environment);
  /// Its lane, awake; as it was opened the last time. Valid until the caller waits for something.
  Async<Result<Lane*>> Wake();
  void SetEnvironment(Environment environment);
  /// What a client does for the session from now on, asleep or not: of several the last one counts.
  void UseServices(std::shared_ptr<client::Services> services);
  /// That client does nothing more for it.
  void DropServices(const client::Services& services);

  /// Closes the lane, if there is one: cancelling what runs, unless it rests.
  Async<Status> Close(bool sleeps);
  /// Since when nothing was asked of it and nothing goes on.
  [[nodiscard]] std::chrono::steady_clock::time_point idle_since() const { return idle_since_; }
  void Touch();

  /// Another process may have written the log.
  Status Look() override;
  /// Gives back what is only needed for reading.
  void ForgetView();

  Status ReadAfter(std::uint64_t seq, const Visit& visit) override;
  Result<std::vector<std::string>> Recent(std::size_t count) override;
  Result<bool> Has(std::uint64_t seq, std::string_view event_id) override;

  /// Where a session stands that sleeps, as its log has it.
  Result<protocol::LiveState> StateAsleep();
  Result<protocol::TurnRows> Turns();

 private:
  Async<void> Closed();
  Status Join(const protocol::Attach& attach);
  Status OpenNow(bool woken);
  Result<log::Log*> Reading();
  void Listen(log::Log& log);
  void CatchUp(log::Log& log);
  void Follow();

  HostShared& shared_;
  std::string id_;
  std::string dir_;
  Hub hub_;
  protocol::Attach attach_;  // As it was opened the last time.
  std::shared_ptr<Environment> environment_;
  bool brought_ = false;                        // A client handed it over.
  std::shared_ptr<client::Services> services_;  // Null: no client offers any.
  std::unique_ptr<Lane> lane_;
  log::Subscription subscription_;
  std::unique_ptr<log::Log> view_;  // While it sleeps and is read.
  std::uint64_t viewed_bytes_ = 0;  // Of the file, when it was looked at.
  FileWatch::Handle watch_;         // While it sleeps and is heard.
  Timer look_;
  bool begun_ = false;  // The hub stands where the log does.
  bool closing_ = false;
  std::vector<Pending<bool>> awaiting_close_;
  std::chrono::steady_clock::time_point idle_since_;
};

}  // namespace stet::host
