#include "host/local/control.h"

#include <csignal>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/lock.h"
#include "host/access_tokens.h"
#include "host/host_state.h"
#include "host/local/launch.h"
#include "host/local/reach.h"
#include "host/serve.h"
#include "log/paths.h"
#include "protocol/methods.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::HostLaunch;
using protocol::HostState;

/// How long one that was killed may take to end.
constexpr std::chrono::seconds kKillTime{5};

/// Whether the host's lock was let go in time.
bool AwaitEnd(const config::Roots& roots, std::chrono::milliseconds span) {
  const Deadline deadline = Deadline::After(span);
  while (FileLock::Holder(roots.host_lock())) {
    if (deadline.Passed()) return false;
    ::poll(nullptr, 0, 10);
  }
  return true;
}

class LocalHost final : public client::HostControl {
 public:
  explicit LocalHost(config::Roots roots) : roots_(std::move(roots)) {}

  Status Serve(const HostLaunch& launch) override { return ServeHost(roots_, launch); }

  Result<HostState> Start(const HostLaunch& launch) override { return StartHost(roots_, launch); }

  Result<bool> Stop() override {
    const std::optional<LockHolder> holder = FileLock::Holder(roots_.host_lock());
    if (!holder) return false;
    if (holder->pid <= 0)
      return Fail(Code::kUnsupported, "the host's process cannot be seen from here");
    if (::kill(static_cast<pid_t>(holder->pid), SIGTERM) != 0 && errno != ESRCH)
      return FailSystem(errno, "stop the host");
    if (AwaitEnd(roots_, kStopTime)) return true;
    ::kill(static_cast<pid_t>(holder->pid), SIGKILL);
    if (!AwaitEnd(roots_, kKillTime))
      return Fail(Code::kTimeout, fmt::format("the host (process {}) does not end", holder->pid));
    return true;
  }

  Result<protocol::HostReport> Report() override {
    protocol::HostReport report;
    // One that is just leaving does not answer any more.
    while (const std::optional<HostState> running = RunningHost(roots_)) {
      const Result<protocol::HostStatus> status =
          AskBriefly<method::HostStatus>(*Reach(*running, kControl));
      if (!status && RunningHost(roots_)) return std::unexpected(status.error());
      if (!status) continue;
      report.state = "running";
      report.status = *status;
      return report;
    }
    ASSIGN_OR_RETURN(const std::optional<HostState> state, ReadHostState(roots_));
    report.state = state && !state->stopped_at ? "orphan" : "stopped";
    return report;
  }

  Status Reset() override {
    if (const std::optional<LockHolder> holder = FileLock::Holder(roots_.host_lock()))
      return Fail(Code::kBusy,
                  fmt::format("a host runs (process {}). Type: stet host stop", holder->pid));
    if (::unlink(roots_.host_state().c_str()) != 0 && errno != ENOENT)
      return FailSystem(errno, "remove " + roots_.host_state());
    return {};
  }

  Result<std::string> Unit() override {
    const std::string program = OwnProgram();
    return fmt::format(
        "[Unit]\n"
        "Description=stet host\n"
        "\n"
        "[Service]\n"
        "ExecStart=\"{}\" host serve\n"
        "Restart=on-failure\n"
        "TimeoutStopSec=10\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n",
        program);
  }

  Result<std::string> LogPath(const std::string& session) override {
    if (session.empty()) return roots_.host_log();
    const store::SessionStore store(roots_);
    ASSIGN_OR_RETURN(const std::string id, store.Resolve(session));
    ASSIGN_OR_RETURN(const std::string dir, store.Find(id));
    return log::Paths{dir}.diagnostics();
  }

  Result<std::string> AddToken(const std::string& name,
                               const std::vector<std::string>& rights) override {
    return host::Tokens(roots_).Add(name, rights);
  }
  Result<protocol::TokenRows> Tokens() override { return host::Tokens(roots_).List(); }
  Status RevokeToken(const std::string& name) override { return host::Tokens(roots_).Revoke(name); }

 private:
  const config::Roots roots_;
};

}  // namespace

std::unique_ptr<client::HostControl> MakeHostControl(config::Roots roots) {
  return std::make_unique<LocalHost>(std::move(roots));
}

}  // namespace stet::host
