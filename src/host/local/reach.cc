#include "host/local/reach.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/lock.h"
#include "config/settings.h"
#include "host/host_state.h"
#include "host/local/launch.h"
#include "host/local/live.h"
#include "protocol/methods.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::HostLaunch;
using protocol::HostState;

/// Between two looks whether a host that was launched listens.
constexpr std::chrono::milliseconds kLookAgain{20};

/// The host that runs. One that is leaving is waited for: it still has its sessions.
std::optional<HostState> FindHost(const config::Roots& roots) {
  const Deadline deadline = Deadline::After(kStopTime);
  while (!deadline.Passed()) {
    if (std::optional<HostState> running = RunningHost(roots)) return running;
    const std::optional<LockHolder> holder = FileLock::Holder(roots.host_lock());
    const std::optional<HostState> state = ReadHostState(roots).value_or(std::nullopt);
    if (!holder || !state || !state->stopped_at || state->pid != holder->pid) break;
    ::poll(nullptr, 0, 10);
  }
  return std::nullopt;
}

/// The host that runs already, if one does. When the user starts one that a client had started
/// before, it no longer leaves with its clients.
Result<std::optional<HostState>> RunningAlready(const config::Roots& roots,
                                                const HostLaunch& launch) {
  while (std::optional<HostState> running = FindHost(roots)) {
    if (launch.listen && running->address.empty())
      return Fail(Code::kBusy, fmt::format("a host runs (process {}) and listens at no address. "
                                           "Type: stet host stop",
                                           running->pid));
    if (launch.launched == "client" || running->launched != "client") return running;
    const Result<protocol::Nothing> kept = AskBriefly<method::HostKeep>(*Reach(*running, kControl));
    std::optional<HostState> now = RunningHost(roots);
    if (!now || now->pid != running->pid) continue;  // It was just leaving.
    if (!kept) return std::unexpected(kept.error());
    return now;
  }
  return std::nullopt;
}

/// What a face does about a host that is gone.
enum class IfGone {
  kSay,    // Says what starts one.
  kStart,  // Starts one; for one that the user stopped only when it is wanted.
};

/// Launches a host and waits until it listens, has ended, or its time is up.
Async<Status> StartAgain(config::Roots roots, client::Attempt attempt) {
  HostLaunch launch;
  launch.launched = "client";
  Fd listens;
  const Result<pid_t> pid = Launch(roots, launch, listens);
  if (!pid) co_return std::unexpected(pid.error());
  const Deadline deadline = Deadline::After(kStartTime);
  pollfd wanted{listens.get(), POLLIN, 0};
  while (::poll(&wanted, 1, 0) == 0 && !deadline.Passed()) {
    if (Status slept = co_await Sleep(attempt.loop, kLookAgain, attempt.cancel); !slept)
      co_return slept;
  }
  // One that could not start has ended; one that runs is not waited for.
  ::waitpid(*pid, nullptr, WNOHANG);
  co_return Status();
}

/// Why there is no line to a host that does not run, unless one is to be started.
std::optional<Error> WhyNot(const config::Roots& roots, IfGone if_gone, bool wanted) {
  if (FileLock::Holder(roots.host_lock()))
    return Error(Code::kUnavailable, "the host is just starting or leaving");
  const std::optional<HostState> state = ReadHostState(roots).value_or(std::nullopt);
  const bool stopped = state && state->stopped_at;
  const std::string_view how = stopped ? "the host was stopped" : "the host has died";
  if (if_gone == IfGone::kSay)
    return Error(Code::kUnavailable, fmt::format("{}. Type: stet host start", how));
  if (stopped && !wanted)
    return Error(Code::kUnavailable,
                 fmt::format("{}: what you send starts it again, or stet host start", how));
  return std::nullopt;
}

/// A line to the host that runs by now, wherever it listens.
Async<Result<std::unique_ptr<rpc::Channel>>> DialHost(config::Roots roots, IfGone if_gone,
                                                      client::Attempt attempt) {
  std::optional<HostState> running = RunningHost(roots);
  if (!running) {
    if (const std::optional<Error> why = WhyNot(roots, if_gone, attempt.wanted))
      co_return std::unexpected(*why);
    attempt.tell("it is gone: starting one");
    if (const Status started = co_await StartAgain(roots, attempt); !started)
      co_return std::unexpected(started.error());
    running = RunningHost(roots);
    if (!running) co_return std::unexpected(NotStarted(roots));
  }
  rpc::Endpoint endpoint;
  endpoint.unix_path = running->socket;
  co_return co_await rpc::Dial(attempt.loop, std::move(endpoint), attempt.cancel);
}

client::RemoteOptions OptionsOf(const HostState& state, std::string_view face) {
  client::RemoteOptions options;
  options.name = face;
  options.endpoint.unix_path = state.socket;
  options.environment = Environment::OfProcess().variables();
  return options;
}

/// A line that is got again as `if_gone` says.
std::unique_ptr<client::RemoteLive> Join(const config::Roots& roots, const HostState& state,
                                         std::string_view face, IfGone if_gone) {
  client::RemoteOptions options = OptionsOf(state, face);
  options.dial = [roots, if_gone](client::Attempt attempt) {
    return DialHost(roots, if_gone, std::move(attempt));
  };
  return client::MakeRemoteLive(options);
}

std::unique_ptr<client::RemoteLive> JoinRunning(const config::Roots& roots, std::string_view face,
                                                IfGone if_gone) {
  while (const std::optional<HostState> running = FindHost(roots)) {
    std::unique_ptr<client::RemoteLive> line = Join(roots, *running, face, if_gone);
    if (running->launched != "client") return line;
    // Once it has answered it knows of us, unless it had decided to leave: then it has said so. One
    // that is held up and does not answer still runs.
    (void)AskBriefly<method::HostStatus>(*line);
    const std::optional<HostState> now = RunningHost(roots);
    if (now && now->pid == running->pid) return line;
  }
  return nullptr;
}

}  // namespace

Result<HostState> StartHost(const config::Roots& roots, const HostLaunch& launch) {
  ASSIGN_OR_RETURN(std::optional<HostState> found, RunningAlready(roots, launch));
  if (found) return *std::move(found);
  Fd listens;
  ASSIGN_OR_RETURN(const pid_t pid, Launch(roots, launch, listens));
  const bool ready = AwaitReady(listens.get());
  // Another process may have been first: its host is as good.
  if (std::optional<HostState> running = RunningHost(roots)) return *std::move(running);
  if (!ready) ::waitpid(pid, nullptr, WNOHANG);
  return std::unexpected(NotStarted(roots));
}

std::unique_ptr<client::RemoteLive> Reach(const HostState& state, std::string_view face) {
  return client::MakeRemoteLive(OptionsOf(state, face));
}

Result<std::unique_ptr<client::RemoteLive>> ReachOrStart(const config::Roots& roots,
                                                         std::string_view face) {
  if (std::unique_ptr<client::RemoteLive> line = JoinRunning(roots, face, IfGone::kStart))
    return line;
  HostLaunch launch;
  launch.launched = "client";
  ASSIGN_OR_RETURN(const HostState state, StartHost(roots, launch));
  return Join(roots, state, face, IfGone::kStart);
}

std::unique_ptr<client::RemoteLive> Hold(const config::Roots& roots, std::string_view face) {
  return JoinRunning(roots, face, IfGone::kSay);
}

Result<std::unique_ptr<client::Live>> OpenLive(const config::Roots& roots, client::Work work,
                                               std::string_view face) {
  using client::Work;
  if (work == Work::kNewSession) return MakeLocalLive(roots, face);
  std::string join = "auto";
  if (work == Work::kConversation) {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots.settings()));
    join = settings.host.join.value_or("auto");
    if (join == "never") return MakeLocalLive(roots, face);
  }
  const bool starts = work == Work::kBackground || (work == Work::kConversation && join == "auto");
  if (starts) return ReachOrStart(roots, face);
  if (std::unique_ptr<client::RemoteLive> line = Hold(roots, face)) return line;
  return MakeLocalLive(roots, face);
}

}  // namespace stet::host
