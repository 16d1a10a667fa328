#include "sandbox/inside.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"
#include "sandbox/mounts.h"
#include "sandbox/proxy.h"
#include "sandbox/seccomp.h"

namespace stet::sandbox {
namespace {

/// Devices that commands have where their /dev is the machine's.
constexpr const char* kDevices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                    "/dev/urandom", "/dev/tty",  "/dev/ptmx", "/dev/pts"};

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
  SetLimit(RLIMIT_DATA, limits.data_bytes);
  SetLimit(RLIMIT_NPROC, limits.processes);
  SetLimit(RLIMIT_NOFILE, limits.open_files);
  SetLimit(RLIMIT_FSIZE, limits.file_bytes);
}

/// The proxy serves on a socket of our network: nothing has to be carried from one to the other.
Status GiveProxyItsSocket(const Entering& entering) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!listener || ::bind(listener.get(), any, size) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0 || ::getsockname(listener.get(), any, &size) != 0)
    return FailSystem(errno, "listen for the proxy");
  RETURN_IF_ERROR(SendDescriptor(entering.proxy, listener.get()));
  const std::string url = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
  for (const char* name :
       {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
    ::setenv(name, url.c_str(), 1);
  ::setenv("NODE_USE_ENV_PROXY", "1", 1);  // Node looks at these only when it is told to.
  // What a command serves itself is reached without the proxy, unless this machine's is meant.
  const bool machine = std::ranges::any_of(entering.profile.hosts, [](const std::string& host) {
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

void MoveTemporaries(const Entering& entering) {
  const std::string temp =
      entering.mechanism == Mechanism::kLandlockAlone ? entering.profile.temp : std::string("/tmp");
  ::setenv("TMPDIR", temp.c_str(), 1);
  MoveCache(entering.profile, "XDG_CACHE_HOME", ".cache", temp + "/cache");
  MoveCache(entering.profile, "npm_config_cache", ".npm", temp + "/cache/npm");
}

LandlockRules RulesOf(const Entering& entering) {
  const Profile& profile = entering.profile;
  LandlockRules rules{.writable = profile.writable, .readable = profile.readable};
  if (entering.mechanism == Mechanism::kLandlockAlone) {
    rules.writable.push_back(profile.temp);
    rules.devices.assign(std::begin(kDevices), std::end(kDevices));
    rules.unreadable = {"/dev"};
    for (const Mount& mount : PlanMounts(profile)) {
      if (mount.kind == Mount::Kind::kHidden) rules.unreadable.push_back(mount.path);
    }
  } else {
    rules.writable.insert(rules.writable.end(), {"/tmp", "/dev"});
  }
  return rules;
}

/// Mounts have done it already, except where only some of what is there may be read.
Status KeepFiles(const Entering& entering) {
  if (entering.mechanism == Mechanism::kLandlockAlone ||
      (entering.mechanism == Mechanism::kNamespaces && !entering.profile.readable.empty()))
    return ApplyLandlock(RulesOf(entering));
  return ApplyLandlockScope();
}

SyscallRules CallsOf(const Entering& entering) {
  const Profile& profile = entering.profile;
  const bool alone = entering.mechanism == Mechanism::kLandlockAlone;
  return {.inet = profile.network != network::kOff,
          // Landlock does not see which process a socket in the file system belongs to.
          .local = !alone && !profile.only_reads() && profile.network != network::kOff,
          // Landlock lets modes, owners and times be changed; a mount that is read-only does not.
          .attributes = !alone || !profile.only_reads()};
}

}  // namespace

Status GiveUp(const Entering& entering) {
  if (entering.proxy >= 0) RETURN_IF_ERROR(GiveProxyItsSocket(entering));
  MoveTemporaries(entering);
  SetLimits(entering.profile.limits);
  if (entering.mechanism != Mechanism::kBubblewrap) {
    RETURN_IF_ERROR(DropCapabilities());
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Only now: a change of privileges would undo it.
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailSystem(errno, "give up privileges");
  RETURN_IF_ERROR(KeepFiles(entering));
  return ApplySeccomp(CallsOf(entering));
}

}  // namespace stet::sandbox
