#include "host/host_state.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/lock.h"

namespace stet::host {
namespace {

/// sockaddr_un has room for 108 bytes with the zero at their end.
constexpr std::size_t kLongestSocket = 107;

}  // namespace

Result<std::optional<protocol::HostState>> ReadHostState(const config::Roots& roots) {
  const Result<std::string> text = ReadFile(roots.host_state());
  if (!text && text.error().code == Code::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  Result<protocol::HostState> state = Decode<protocol::HostState>(*text);
  if (!state)
    return Fail(Code::kCorrupt,
                fmt::format("{} is damaged. Type: stet host reset", roots.host_state()));
  return *std::move(state);
}

Status WriteHostState(const config::Roots& roots, const protocol::HostState& state) {
  return ReplaceFile(roots.host_state(), Encode(state) + "\n", Durable::kNo, 0600);
}

std::optional<protocol::HostState> RunningHost(const config::Roots& roots) {
  const std::optional<LockHolder> holder = FileLock::Holder(roots.host_lock());
  if (!holder) return std::nullopt;
  Result<std::optional<protocol::HostState>> state = ReadHostState(roots);
  if (!state || !*state || (*state)->stopped_at || (*state)->pid != holder->pid)
    return std::nullopt;
  return std::move(*state);
}

Result<std::string> SocketPath(const config::Roots& roots) {
  if (roots.host_socket().size() <= kLongestSocket) return roots.host_socket();
  const std::string folder = fmt::format("/tmp/stet-{}", ::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return FailSystem(errno, "make " + folder);
  struct stat made{};
  if (::lstat(folder.c_str(), &made) != 0) return FailSystem(errno, "look at " + folder);
  if (!S_ISDIR(made.st_mode) || made.st_uid != ::geteuid() || (made.st_mode & 077) != 0)
    return Fail(Code::kDenied, fmt::format("{} is not this user's alone: remove it, or set "
                                           "STET_HOME to a folder with a shorter name",
                                           folder));
  return fmt::format("{}/{}.sock", folder, Sha256Hex(roots.data).substr(0, 16));
}

}  // namespace stet::host
