// Hosted: one session as the clients of a host have it: its hub, for those that listen, and its
// file, which is read and followed while the session sleeps here. Its lane belongs to Lanes.
//
// When another process works on the session, its file is followed: events only. Belongs to the
// loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_watch.h"
#include "base/loop.h"
#include "config/roots.h"
#include "host/feed.h"
#include "lane/lanes.h"
#include "log/log.h"

namespace stet::host {

/// What all sessions of a host share; outlives them.
struct HostShared {
  Loop& loop;
  const config::Roots& roots;
  lane::Lanes& lanes;
  KeptBudget& kept;
  FileWatch& files;
};

class Hosted final : public FeedSource, private lane::LaneListener {
 public:
  /// `dir` is where the session lies, or will when it is made.
  Hosted(HostShared& shared, std::string session_id, std::string dir);
  /// What is kept of it in Lanes goes as well, if it sleeps.
  ~Hosted() override;
  Hosted(const Hosted&) = delete;
  Hosted& operator=(const Hosted&) = delete;

  [[nodiscard]] const std::string& id() const override { return id_; }
  /// The file with what the host did for it, for developers who look into a failure.
  [[nodiscard]] std::string diagnostics() const;
  Hub& hub() override { return hub_; }

  // As Lanes has them, for this session.
  [[nodiscard]] bool awake() const { return lane() != nullptr; }
  [[nodiscard]] bool working() const { return shared_.lanes.working(id_); }
  [[nodiscard]] lane::Lane* lane() const { return shared_.lanes.Find(id_); }
  Async<Result<lane::Lane*>> Open(protocol::Attach attach, std::optional<Environment> environment,
                                  lane::Asking asking);
  Async<Result<lane::Lane*>> Wake();
  Async<Status> Close(bool sleeps) { return shared_.lanes.Close(id_, sleeps); }
  void SetEnvironment(Environment environment) {
    shared_.lanes.SetEnvironment(id_, std::move(environment));
  }
  void UseServices(std::shared_ptr<client::Services> services) {
    shared_.lanes.UseServices(id_, std::move(services));
  }
  void DropServices(const client::Services& services) { shared_.lanes.DropServices(id_, services); }

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
  void Opened(log::Log& log) override;
  void Closed() override;
  Result<log::Log*> Reading();
  void CatchUp(log::Log& log);
  void Follow();

  HostShared& shared_;
  std::string id_;
  std::string dir_;
  Hub hub_;
  log::Subscription subscription_;  // While it has a lane.
  std::unique_ptr<log::Log> view_;  // While it sleeps and is read.
  std::uint64_t viewed_bytes_ = 0;  // Of the file, when it was looked at.
  FileWatch::Handle watch_;         // While it sleeps and is heard.
  Timer look_;
  bool begun_ = false;  // The hub stands where the log does.
  std::chrono::steady_clock::time_point idle_since_;
};

}  // namespace stet::host
