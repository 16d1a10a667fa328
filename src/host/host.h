// Host: the sessions of this device and the clients that are connected to them.
//
// It opens sessions when they are needed and puts them to sleep when no turn or task runs in them,
// takes clients over the unix socket and the network, and answers them through Dispatch. One per
// device: the process that starts it holds the device's lock. Belongs to the loop.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/model_access.h"
#include "host/caller.h"
#include "host/connection.h"
#include "host/hosted.h"
#include "host/metrics.h"
#include "rpc/server.h"

namespace stet::host {

struct HostOptions {
  config::Roots roots;
  rpc::ListenOptions listen;
  std::string launched = "user";     // Or client: it leaves with its last one.
  std::string token;                 // Of the state file: all rights.
  std::vector<std::string> origins;  // Of browsers, beside its own.
  std::vector<std::string> names;    // That it may be asked by, beside loopback's.
  /// A session that rests this long is put to sleep.
  std::chrono::milliseconds sleep_after = std::chrono::minutes(5);
  /// A client that takes nothing for this long is sent away.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
  /// Called when it should end: a client asked for it, or the last client has left.
  std::function<void()> stop;
  /// Called when it is to stay, even if a client started it.
  std::function<void()> keep;
};

class Host {
 public:
  static Result<std::unique_ptr<Host>> Start(Loop& loop, HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Tells all clients, cancels what runs, and closes every session.
  Async<void> Shutdown();

  [[nodiscard]] protocol::HostStatus Describe() const;
  [[nodiscard]] std::string address() const { return server_->address(); }
  [[nodiscard]] const HostOptions& options() const { return options_; }
  [[nodiscard]] const std::string& host_id() const { return host_id_; }
  [[nodiscard]] const std::string& device_id() const { return device_id_; }
  [[nodiscard]] Loop& loop() { return shared_.loop; }
  [[nodiscard]] const lane::Lanes& lanes() const { return lanes_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] std::string MetricsText() const;

  /// Awake or not. kNotFound when there is no such session.
  Result<std::shared_ptr<Hosted>> Find(const std::string& session_id);
  /// The process that works on a session which is not awake here; nothing when none does.
  [[nodiscard]] std::optional<std::int64_t> HeldBy(const std::string& session_id) const;
  /// Makes a session as `attach` says, or opens the one that it names, for the client `asking`.
  Async<Result<std::shared_ptr<Hosted>>> Open(protocol::Attach attach,
                                              std::optional<Environment> environment,
                                              Caller asking);
  /// Before the client starts something in the session: options of clients that have let go of it
  /// end. kBusy while what they started still runs.
  Async<Status> EndLeftOptions(std::string session_id, std::string client_id);
  /// A client that hears the session, other than `asking`; "a client over HTTP" has no other name.
  [[nodiscard]] std::optional<std::string> HeardBy(const std::string& session_id,
                                                   const std::string& asking) const;
  /// A client has let go of the session: when no other has it open, it is released.
  void LetGo(const std::string& session_id);
  /// Puts it aside, so that its folder can be moved.
  Async<Status> Release(std::string session_id);
  void Stop() const { options_.stop(); }
  /// It no longer leaves with its last client.
  void Keep() {
    options_.launched = "user";
    if (options_.keep) options_.keep();
  }

  /// Streams over HTTP, each under a number of its own.
  std::uint64_t NewStream() { return ++last_stream_; }
  void KeepStream(std::uint64_t number, std::shared_ptr<Outlet> stream);
  void DropStream(std::uint64_t number);

 private:
  friend class Connection;

  Host(Loop& loop, HostOptions options);
  Status Listen();
  [[nodiscard]] Status Admit(const rpc::HttpRequest& request) const;
  void Accept(std::unique_ptr<rpc::Channel> channel, const rpc::Peer& peer);
  void Drop(Connection& connection);
  [[nodiscard]] bool IsHeld(const std::string& session_id, const std::string& except) const;
  void FreeLater(std::shared_ptr<void> gone);
  void ArmSweep();
  void Sweep();
  void LeaveIfAlone();

  HostOptions options_;
  device::ModelAccess models_;
  lane::Lanes lanes_;
  KeptBudget kept_;
  FileWatch files_;
  HostShared shared_;
  std::string host_id_;
  std::string device_id_;
  Metrics metrics_;
  std::chrono::steady_clock::time_point started_;
  std::map<std::string, std::shared_ptr<Hosted>> sessions_;
  std::list<std::shared_ptr<Connection>> connections_;
  std::map<std::uint64_t, std::shared_ptr<Outlet>> streams_;
  std::uint64_t last_stream_ = 0;
  std::vector<std::shared_ptr<void>> buried_;  // Until what called them has returned.
  std::unique_ptr<rpc::Server> server_;
  Timer sweep_;
  bool sweeping_ = false;
  Timer lonely_;
  bool had_clients_ = false;
  bool stopping_ = false;
};

}  // namespace stet::host
