#include "host/local/control.h"

#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/fs.h"
#include "base/lock.h"
#include "client/await.h"
#include "config/settings.h"
#include "host/access_tokens.h"
#include "host/host_state.h"
#include "host/local/live.h"
#include "host/serve.h"
#include "log/paths.h"
#include "protocol/methods.h"
#include "store/session_store.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using protocol::HostLaunch;
using protocol::HostState;

/// What asks about the host itself.
constexpr std::string_view kControl = "control";

constexpr std::chrono::seconds kStartTime{30};
constexpr std::chrono::seconds kAnswerTime{2};
constexpr std::chrono::seconds kStopTime{5};
constexpr std::chrono::seconds kKillTime{5};
/// Between two looks whether a host that was launched listens.
constexpr std::chrono::milliseconds kLookAgain{20};

/// The program itself, though its file may have been replaced since.
std::string OwnProgram() {
  std::string path(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  constexpr std::string_view kGone = " (deleted)";
  if (path.ends_with(kGone)) path.resize(path.size() - kGone.size());
  return path;
}

std::vector<std::string> ServeArguments(const HostLaunch& launch, int ready_fd) {
  std::vector<std::string> arguments = {OwnProgram(),
                                        "host",
                                        "serve",
                                        "--launched",
                                        launch.launched,
                                        "--ready-fd",
                                        std::to_string(ready_fd)};
  const auto add = [&](const char* flag, const protocol::OptionalText& value) {
    if (value) arguments.insert(arguments.end(), {flag, *value});
  };
  add("--listen", launch.listen);
  add("--certificate", launch.certificate);
  add("--key", launch.key);
  if (launch.exposed) arguments.emplace_back("--expose");
  return arguments;
}

/// In a session of its own, away from this terminal, with the root as its folder.
Result<pid_t> Detach(const std::vector<std::string>& arguments, int ready_fd,
                     const std::string& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  ::posix_spawn_file_actions_adddup2(&actions, ready_fd, 3);
  ::posix_spawn_file_actions_addchdir_np(&actions, "/");
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return FailSystem(error, "start the host");
  return pid;
}

/// What the host says to M, if it does so soon.
template <protocol::IsMethod M>
client::Replied<M> AskBriefly(client::RemoteLive& line) {
  return client::Await(line, &client::RemoteLive::Call<M>, typename M::Params(),
                       client::CallOptions{.within = kAnswerTime});
}

std::string StartErrors(const config::Roots& roots) { return roots.host_log() + ".start"; }

/// Whether it said that it listens; else it has ended, or its time is up.
bool AwaitReady(int fd) {
  const Deadline deadline = Deadline::After(kStartTime);
  while (true) {
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, static_cast<int>(deadline.Left().count())) > 0) {
      char byte = 0;
      return ::read(fd, &byte, 1) == 1;
    }
    if (deadline.Passed()) return false;
  }
}

/// Whether the host's lock was let go in time.
bool AwaitEnd(const config::Roots& roots, std::chrono::milliseconds span) {
  const Deadline deadline = Deadline::After(span);
  while (FileLock::Holder(roots.host_lock())) {
    if (deadline.Passed()) return false;
    ::poll(nullptr, 0, 10);
  }
  return true;
}

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

/// Starts a host in the background, unless one is there by then; `ready` becomes readable when it
/// listens or has ended.
Result<pid_t> Launch(const config::Roots& roots, const HostLaunch& launch, Fd& ready) {
  RETURN_IF_ERROR(MakeDirs(roots.data));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return FailSystem(errno, "make a pipe");
  ready.reset(ends[0]);
  const Fd write(ends[1]);
  return Detach(ServeArguments(launch, 3), write.get(), StartErrors(roots));
}

/// Why the one that was launched last does not run.
Error NotStarted(const config::Roots& roots) {
  std::string why = ReadFile(StartErrors(roots), 4096).value_or("");
  while (why.ends_with('\n')) why.pop_back();
  return {Code::kUnavailable,
          fmt::format("the host did not start: {}", why.empty() ? "see stet host logs" : why)};
}

class LocalHost final : public client::HostControl {
 public:
  explicit LocalHost(config::Roots roots) : roots_(std::move(roots)) {}

  Status Serve(const HostLaunch& launch) override { return ServeHost(roots_, launch); }

  Result<HostState> Start(const HostLaunch& launch) override {
    ASSIGN_OR_RETURN(std::optional<HostState> found, Running(launch));
    if (found) return *std::move(found);
    Fd listens;
    ASSIGN_OR_RETURN(const pid_t pid, Launch(roots_, launch, listens));
    const bool ready = AwaitReady(listens.get());
    // Another process may have been first: its host is as good.
    if (std::optional<HostState> running = RunningHost(roots_)) return *std::move(running);
    if (!ready) ::waitpid(pid, nullptr, WNOHANG);
    return std::unexpected(NotStarted(roots_));
  }

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
  /// The host that runs already, if one does. When the user starts one that a client had started
  /// before, it no longer leaves with its clients.
  [[nodiscard]] Result<std::optional<HostState>> Running(const HostLaunch& launch) const {
    while (std::optional<HostState> running = FindHost(roots_)) {
      if (launch.listen && running->address.empty())
        return Fail(Code::kBusy, fmt::format("a host runs (process {}) and listens at no address. "
                                             "Type: stet host stop",
                                             running->pid));
      if (launch.launched == "client" || running->launched != "client") return running;
      const Result<protocol::Nothing> kept =
          AskBriefly<method::HostKeep>(*Reach(*running, kControl));
      std::optional<HostState> now = RunningHost(roots_);
      if (!now || now->pid != running->pid) continue;  // It was just leaving.
      if (!kept) return std::unexpected(kept.error());
      return now;
    }
    return std::nullopt;
  }

  const config::Roots roots_;
};

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

std::unique_ptr<client::HostControl> MakeHostControl(config::Roots roots) {
  return std::make_unique<LocalHost>(std::move(roots));
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
  ASSIGN_OR_RETURN(const HostState state, MakeHostControl(roots)->Start(launch));
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
