#include "sandbox/landlock.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "sandbox/profile.h"

namespace stet::sandbox {
namespace {

// As the kernel has them; the headers of older systems know only some.
constexpr std::uint64_t kExecute = 1U << 0U;
constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kReadFile = 1U << 2U;
constexpr std::uint64_t kReadDir = 1U << 3U;
constexpr std::uint64_t kTruncate = 1U << 14U;
constexpr std::uint64_t kAllFileRights = (1U << 15U) - 1;  // Up to truncating.
constexpr std::uint64_t kForFiles = kExecute | kWriteFile | kReadFile | kTruncate;
constexpr std::uint64_t kScopes = 3;  // Abstract sockets, signals.
constexpr unsigned kVersionFlag = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t net = 0;
  std::uint64_t scoped = 0;
};

struct __attribute__((packed)) PathAttributes {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};

Result<Fd> MakeRuleset(const RulesetAttributes& attributes) {
  Fd fd(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!fd) return FailSystem(errno, "make a Landlock ruleset");
  return fd;
}

/// All that this version knows: up to truncating, which came with the third.
std::uint64_t FileRights(int version) {
  return version < kLandlockTruncates ? kAllFileRights & ~kTruncate : kAllFileRights;
}

/// What is gone by now is left out.
Status Grant(const Fd& ruleset, const std::string& path, std::uint64_t rights) {
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat facts{};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return {};
  const PathAttributes attributes{.allowed = S_ISDIR(facts.st_mode) ? rights : rights & kForFiles,
                                  .folder = fd.get()};
  if (attributes.allowed == 0) return {};
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), kPathBeneath, &attributes, 0) != 0)
    return FailSystem(errno, "let a command use " + path);
  return {};
}

Status Enforce(const Fd& ruleset) {
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    return FailSystem(errno, "enforce a Landlock ruleset");
  return {};
}

}  // namespace

int LandlockVersion() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  return version > 0 ? static_cast<int>(version) : 0;
}

std::vector<std::string> Around(std::vector<std::string> roots,
                                const std::vector<std::string>& unreadable) {
  std::vector<std::string> covered;
  std::vector<std::string> open = std::move(roots);
  while (!open.empty()) {
    const std::string folder = std::move(open.back());
    open.pop_back();
    const bool out = std::ranges::any_of(
        unreadable, [&](const std::string& path) { return Inside(folder, path); });
    if (out) continue;
    const bool has = std::ranges::any_of(
        unreadable, [&](const std::string& path) { return Inside(path, folder); });
    if (!has) {
      covered.push_back(folder);
      continue;
    }
    // One that cannot be listed is not granted.
    const auto entries = ListDir(folder);
    if (!entries) continue;
    for (const DirEntry& entry : *entries) {
      if (entry.kind == EntryKind::kSymlink) continue;  // Only what it leads to counts.
      open.push_back((folder == "/" ? "" : folder) + "/" + entry.name);
    }
  }
  return covered;
}

Status ApplyLandlock(const LandlockRules& rules) {
  const int version = LandlockVersion();
  ASSIGN_OR_RETURN(const Fd ruleset,
                   MakeRuleset({.files = FileRights(version),
                                .scoped = version < kLandlockScopes ? 0 : kScopes}));
  if (rules.readable.empty()) RETURN_IF_ERROR(Grant(ruleset, "/", kReadDir));
  const std::vector<std::string> roots =
      rules.readable.empty() ? std::vector<std::string>{"/"} : rules.readable;
  for (const std::string& path : Around(roots, rules.unreadable))
    RETURN_IF_ERROR(Grant(ruleset, path, kExecute | kReadFile | kReadDir));
  for (const std::string& path : rules.writable)
    RETURN_IF_ERROR(Grant(ruleset, path, FileRights(version)));
  for (const std::string& path : rules.devices)
    RETURN_IF_ERROR(Grant(ruleset, path, kReadFile | kWriteFile | kReadDir));
  return Enforce(ruleset);
}

Status ApplyLandlockScope() {
  if (LandlockVersion() < kLandlockScopes) return {};
  ASSIGN_OR_RETURN(const Fd ruleset, MakeRuleset({.scoped = kScopes}));
  return Enforce(ruleset);
}

}  // namespace stet::sandbox
