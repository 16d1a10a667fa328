#include "sandbox/sockets.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <sys/stat.h>

#include "base/fs.h"

namespace stet::sandbox {
namespace {

constexpr std::size_t kMaxTableBytes = std::size_t{8} << 20;
constexpr int kFieldsBeforePath = 7;

/// What stands behind the fields; empty: it has no name.
std::string_view PathOf(std::string_view line) {
  for (int field = 0; field < kFieldsBeforePath; ++field) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

bool IsSocket(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode);
}

std::string RealSocket(const std::string& path) {
  if (!IsSocket(path)) return "";
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : "";
}

}  // namespace

std::vector<std::string> SocketPaths(std::string_view table) {
  std::vector<std::string> paths;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    const std::string_view path = PathOf(table.substr(0, end));
    table.remove_prefix(std::min(end + 1, table.size()));
    if (path.starts_with('/')) paths.emplace_back(path);
  }
  std::ranges::sort(paths);
  const auto doubles = std::ranges::unique(paths);
  paths.erase(doubles.begin(), doubles.end());
  return paths;
}

std::vector<Mount> PlanSockets(const Profile& profile) {
  std::vector<Mount> mounts;
  const auto within = [](const Texts& folders, const std::string& path) {
    return std::ranges::any_of(folders,
                               [&](const std::string& folder) { return Inside(path, folder); });
  };
  const Texts own = {"/tmp", "/dev"};
  for (const std::string& path :
       SocketPaths(ReadFile("/proc/net/unix", kMaxTableBytes).value_or(""))) {
    std::string real = RealSocket(path);
    if (real.empty() || within(own, real) || within(profile.writable, real) ||
        within(profile.hidden, real))
      continue;
    mounts.push_back({Mount::Kind::kHidden, std::move(real), false});
  }
  return mounts;
}

}  // namespace stet::sandbox
