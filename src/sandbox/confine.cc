#include "sandbox/confine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/guard/descendants.h"
#include "sandbox/bubblewrap.h"
#include "sandbox/landlock.h"
#include "sandbox/mechanism.h"
#include "sandbox/namespaces.h"
#include "sandbox/proxy.h"
#include "sandbox/seccomp.h"

namespace stet::sandbox {
namespace {

constexpr std::string_view kOuter = "stet-confine";
constexpr std::string_view kInner = "stet-confine-inner";
constexpr const char* kSelf = "/proc/self/exe";
constexpr int kNotExecutable = 126;
constexpr int kNoSuchCommand = 127;
constexpr int kSignalBase = 128;
constexpr std::size_t kMaxOrderBytes = std::size_t{4} << 20;
/// Devices that commands have; bwrap makes the same ones.
constexpr const char* kDevices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                    "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};

std::atomic<bool> available = false;

/// What the steps share. Descriptors are open across exec on purpose: bwrap hands them on.
struct Confining {
  ConfineOrder order;
  Mechanism mechanism = Mechanism::kBubblewrap;
  int report = -1;
  int proxy = -1;  // The proxy's socket; -1 when there is no proxy.
  std::vector<std::string> command;

  [[nodiscard]] const Profile& profile() const { return order.profile; }
  [[nodiscard]] bool has_hosts() const { return profile().network == network::kHosts; }
};

[[noreturn]] void GiveUp(const Confining& all, std::string_view why) {
  const std::string said = fmt::format("stet: the command was not run in the sandbox: {}\n", why);
  (void)WriteAll(STDERR_FILENO, said);
  if (all.report >= 0) (void)WriteAll(all.report, fmt::format("failed {}\n", why));
  ::_exit(kCannotConfine);
}

void Must(const Confining& all, const Status& status) {
  if (!status) GiveUp(all, status.error().Text());
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A file in memory with these bytes, at its beginning, open across exec.
Result<int> MemoryFile(std::string_view bytes) {
  Fd fd(::memfd_create("stet", 0));
  if (!fd) return FailSystem(errno, "make a file in memory");
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd.release();
}

/// The process that waits for the command must not end before it by a signal meant for the command.
void HandleSignals(void (*how)(int)) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) ::signal(signal, how);
}

// ---- Inside.

void SetLimit(int which, std::int64_t most) {
  if (most <= 0) return;
  const auto value = static_cast<rlim_t>(most);
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(which), &now);
  const rlim_t bound = std::min(now.rlim_max, value);
  const rlimit limit{.rlim_cur = bound, .rlim_max = bound};
  ::setrlimit(static_cast<__rlimit_resource>(which), &limit);
}

void SetLimits(const Limits& limits) {
  SetLimit(RLIMIT_CPU, limits.cpu_seconds);
  SetLimit(RLIMIT_AS, limits.memory_bytes);
  SetLimit(RLIMIT_NPROC, limits.processes);
  SetLimit(RLIMIT_NOFILE, limits.open_files);
  SetLimit(RLIMIT_FSIZE, limits.file_bytes);
}

/// The proxy serves on a socket of our network: nothing has to be carried from one to the other.
Status GiveProxyItsSocket(const Confining& all) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!listener || ::bind(listener.get(), any, size) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0 || ::getsockname(listener.get(), any, &size) != 0)
    return FailSystem(errno, "listen for the proxy");
  RETURN_IF_ERROR(SendDescriptor(all.proxy, listener.get()));
  const std::string url = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
    ::setenv(name, url.c_str(), 1);
  ::setenv("NODE_USE_ENV_PROXY", "1", 1);  // Node looks at these only when it is told to.
  // What a command serves itself is reached without the proxy, unless this machine's is meant.
  const bool machine = std::ranges::any_of(all.profile().hosts, [](const std::string& host) {
    return host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("[::1]");
  });
  for (const char* name : {"no_proxy", "NO_PROXY"})
    ::setenv(name, machine ? "" : "localhost,127.0.0.1,::1", 1);
  return {};
}

/// Programs that cannot write their caches often fail. What the profile does not let them write
/// they get among the temporary files.
void MoveCache(const Profile& profile, const char* variable, std::string_view usual,
               const std::string& instead) {
  const char* chosen = ::getenv(variable);
  const char* home = ::getenv("HOME");
  if (chosen == nullptr && home == nullptr) return;
  const std::string cache = chosen != nullptr ? chosen : fmt::format("{}/{}", home, usual);
  const bool writable = std::ranges::any_of(profile.writable, [&](const std::string& folder) {
    return Inside(cache, folder) || Inside(folder, cache);
  });
  if (!writable) ::setenv(variable, instead.c_str(), 1);
}

void MoveTemporaries(const Confining& all) {
  const std::string temp =
      all.mechanism == Mechanism::kBubblewrap ? std::string("/tmp") : all.profile().temp;
  ::setenv("TMPDIR", temp.c_str(), 1);
  MoveCache(all.profile(), "XDG_CACHE_HOME", ".cache", temp + "/cache");
  MoveCache(all.profile(), "npm_config_cache", ".npm", temp + "/cache/npm");
}

LandlockRules RulesOf(const Confining& all) {
  LandlockRules rules{.writable = all.profile().writable, .unreadable = {"/dev"}, .devices = {}};
  if (all.mechanism == Mechanism::kLandlockAlone) {
    for (const Mount& mount : PlanMounts(all.profile())) {
      if (mount.kind == Mount::Kind::kHidden) rules.unreadable.push_back(mount.path);
    }
  }
  rules.devices.assign(std::begin(kDevices), std::end(kDevices));
  return rules;
}

[[noreturn]] void BecomeCommand(Confining& all) {
  HandleSignals(SIG_DFL);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  const std::vector<char*> argv = Pointers(all.command);
  ::execvp(argv[0], argv.data());
  const int why = errno;
  (void)WriteAll(STDERR_FILENO, fmt::format("stet: {}: {}\n", all.command[0], std::strerror(why)));
  ::_exit(why == ENOENT ? kNoSuchCommand : kNotExecutable);
}

/// Gives up what the profile does not grant, one thing after the other; the order matters.
[[noreturn]] void BeInside(Confining& all) {
  const bool wrapped = all.mechanism == Mechanism::kBubblewrap;
  if (all.has_hosts()) Must(all, GiveProxyItsSocket(all));
  MoveTemporaries(all);
  SetLimits(all.profile().limits);
  if (!wrapped) {
    Must(all, DropCapabilities());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Only now: a change of privileges would undo it.
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    GiveUp(all, "the system does not let it give up privileges");
  Must(all, wrapped ? ApplyLandlockScope() : ApplyLandlock(RulesOf(all)));
  // Landlock does not see which process a socket in the file system belongs to.
  Must(all, ApplySeccomp({.inet = all.profile().network != network::kOff, .local = wrapped}));
  BecomeCommand(all);
}

// ---- Outside.

/// Twice forked, so that it is no child of this process: the guard, a subreaper, adopts it.
Status StartProxy(Confining& all) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
    return FailSystem(errno, "make a socket for the proxy");
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return FailSystem(errno, "start the proxy");
  if (child == 0) {
    if (::fork() == 0)
      ServeProxy(all.profile().hosts, {.control = ends[0], .report = all.report, .command = self});
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  all.proxy = ends[1];
  return {};
}

/// Not one that a command could have put there. Empty: none.
std::string FindBubblewrap(const Profile& profile) {
  const char* path = ::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : "/usr/bin"; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool writable = std::ranges::any_of(
        profile.writable, [&](const std::string& one) { return Inside(folder, one); });
    const std::string file = folder + "/bwrap";
    if (folder.starts_with('/') && !writable && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

[[noreturn]] void BecomeBubblewrap(Confining& all) {
  const std::string program = FindBubblewrap(all.profile());
  if (program.empty()) GiveUp(all, "bwrap is not installed");
  std::array<char, 4096> cwd{};
  if (::getcwd(cwd.data(), cwd.size()) == nullptr) GiveUp(all, "the working directory is gone");
  std::string arguments;
  for (const std::string& one :
       BubblewrapArguments(all.profile(), PlanMounts(all.profile()),
                           {.cwd = cwd.data(), .empty = all.order.empty, .privileged = MayMount()}))
    arguments += one + '\0';
  const Result<int> options = MemoryFile(arguments);
  const Result<int> order = MemoryFile(Encode(all.order));
  const int self = ::open(kSelf, O_RDONLY);
  if (!options || !order || self < 0) GiveUp(all, "no descriptor is left");
  std::vector<std::string> line{"bwrap",
                                "--args",
                                fmt::format("{}", *options),
                                "--",
                                fmt::format("/proc/self/fd/{}", self),
                                std::string(kInner),
                                fmt::format("{}", *order),
                                fmt::format("{}", all.report),
                                fmt::format("{}", all.proxy)};
  line.insert(line.end(), all.command.begin(), all.command.end());
  HandleSignals(SIG_IGN);
  ::execv(program.c_str(), Pointers(line).data());
  GiveUp(all, fmt::format("bwrap cannot be started: {}", std::strerror(errno)));
}

Fd WatchProcess(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// Until the command has ended, or the process that started us has: then none waits for the result.
void AwaitEither(pid_t command, const Fd& starter) {
  const Fd ended = WatchProcess(command);
  std::array<pollfd, 2> fds{{{.fd = ended.get(), .events = POLLIN, .revents = 0},
                             {.fd = starter.get(), .events = POLLIN, .revents = 0}}};
  while (::poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
}

/// The command is a child, so that this process is left to end what the command leaves behind.
[[noreturn]] void RunLandlocked(Confining& all) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Fd starter = WatchProcess(::getppid());
  const pid_t child = ::fork();
  if (child < 0) GiveUp(all, "no process is left");
  if (child == 0) {
    all.order.profile.writable.push_back(all.profile().temp);
    if (all.mechanism == Mechanism::kLandlock)
      Must(all, EnterNamespaces(PlanMounts(all.profile()), all.order.empty,
                                all.profile().network != network::kOpen));
    BeInside(all);
  }
  HandleSignals(SIG_IGN);
  AwaitEither(child, starter);
  int status = SIGKILL;  // As it ends when we do not wait for it.
  ::waitpid(child, &status, WNOHANG);
  guard::KillDescendants();
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status));
}

[[noreturn]] void BeOutside(const char* order_file, std::vector<std::string> command) {
  Confining all{.command = std::move(command)};
  const Result<std::string> text = ReadFile(order_file, kMaxOrderBytes);
  if (!text) GiveUp(all, text.error().Text());
  Result<ConfineOrder> order = Decode<ConfineOrder>(*text);
  if (!order) GiveUp(all, order.error().Text());
  all.order = *std::move(order);
  all.report = ::open(all.order.report.c_str(), O_WRONLY | O_APPEND);
  const auto mechanism = MechanismFrom(all.order.mechanism);
  if (!mechanism || all.command.empty()) GiveUp(all, "the order makes no sense");
  all.mechanism = *mechanism;
  if (all.has_hosts()) Must(all, StartProxy(all));
  if (all.mechanism == Mechanism::kBubblewrap) BecomeBubblewrap(all);
  RunLandlocked(all);
}

int Number(const char* text) {
  int number = -1;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

[[noreturn]] void BeInner(char** argv, int argc) {
  constexpr int kFirst = 5;
  Confining all{.report = Number(argv[3]), .proxy = Number(argv[4])};
  all.command.assign(argv + kFirst, argv + argc);
  const Result<std::string> text =
      ReadFile(fmt::format("/proc/self/fd/{}", Number(argv[2])), kMaxOrderBytes);
  Result<ConfineOrder> order = text ? Decode<ConfineOrder>(*text) : std::unexpected(text.error());
  if (!order) GiveUp(all, order.error().Text());
  all.order = *std::move(order);
  BeInside(all);
}

}  // namespace

bool CanConfine() { return available; }

std::vector<std::string> ConfineArguments(const std::string& order_file,
                                          std::vector<std::string> command) {
  std::vector<std::string> arguments{kSelf, std::string(kOuter), order_file};
  std::ranges::move(command, std::back_inserter(arguments));
  return arguments;
}

void BecomeConfinedIfAsked(int argc, char** argv) {
  available = true;
  constexpr int kLeastOuter = 4;
  constexpr int kLeastInner = 6;
  if (argc >= kLeastOuter && argv[1] == kOuter) BeOutside(argv[2], {argv + 3, argv + argc});
  if (argc >= kLeastInner && argv[1] == kInner) BeInner(argv, argc);
}

}  // namespace stet::sandbox
