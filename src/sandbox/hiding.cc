#include "sandbox/hiding.h"

#include <cerrno>
#include <cstdint>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "base/guard/user_namespace.h"
#include "sandbox/capabilities.h"
#include "sandbox/namespaces.h"

namespace stet::sandbox {
namespace {

constexpr int kDevicesDepth = 3;  // /dev/disk/by-id leads to the others.

/// Root writes there without a capability, and the kernel runs or does what it says.
constexpr const char* kToldToTheKernel[] = {"/proc/sys", "/proc/sysrq-trigger", "/sys"};

void AddDisks(const std::string& folder, int depth, std::vector<Mount>& mounts) {
  const Result<std::vector<DirEntry>> entries = ListDir(folder);
  if (!entries || depth == kDevicesDepth) return;
  for (const DirEntry& entry : *entries) {
    const std::string path = folder + "/" + entry.name;
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0) continue;
    if (S_ISBLK(facts.st_mode)) mounts.push_back({Mount::Kind::kHidden, path, false});
    if (S_ISDIR(facts.st_mode)) AddDisks(path, depth + 1, mounts);
  }
}

/// Where a mount goes: a path that leads through no symlink, so that nothing else is hidden in its
/// place.
Result<Fd> OpenTarget(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  if (!fd) return Fail(Code::kConflict, path + " was moved meanwhile. Try again");
  return fd;
}

std::string Through(const Fd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

Status Cover(const Mount& mount, const std::string& stand_in) {
  ASSIGN_OR_RETURN(const Fd target, OpenTarget(mount.path));
  const std::string at = Through(target);
  if (mount.kind == Mount::Kind::kReadOnly) {
    if (::mount(at.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
      return FailSystem(errno, "mount " + mount.path);
    return SetReadOnly(mount.path, true, 0);
  }
  const int done = mount.is_dir ? ::mount("none", at.c_str(), "tmpfs",
                                          MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "mode=0000")
                                : ::mount(stand_in.c_str(), at.c_str(), nullptr, MS_BIND, nullptr);
  if (done != 0) return FailSystem(errno, "hide " + mount.path);
  return {};
}

/// A mount namespace of our own, in a user namespace where we have no other right to one.
Status Part(bool privileged) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWNS | (privileged ? 0 : CLONE_NEWUSER)) != 0)
    return FailSystem(errno, "make namespaces");
  if (!privileged && !guard::StayWhoWeAre(user, group))
    return FailSystem(errno, "stay this user in a namespace");
  // What is mounted outside later is still seen.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
    return FailSystem(errno, "keep mounts to ourselves");
  return {};
}

}  // namespace

std::vector<Mount> PlanHiding(const Profile& profile) {
  Profile places;
  places.hidden = profile.hidden;
  places.read_only = profile.read_only;
  std::vector<Mount> mounts = PlanMounts(places);
  if (!MayMount()) return mounts;
  AddDisks("/dev", 0, mounts);
  for (const char* path : kToldToTheKernel) {
    if (Exists(path))
      mounts.push_back({Mount::Kind::kReadOnly, path, StatFile(path).value_or(FileStat{}).is_dir});
  }
  return mounts;
}

Status HideFromHere(const std::vector<Mount>& mounts, const std::string& stand_in) {
  const bool privileged = MayMount();
  if (!privileged && ::geteuid() == 0) return Fail(Code::kUnsupported, "root may not mount here");
  // Else root sees processes outside in /proc, and through them what they see.
  if (privileged && ::getppid() != 1)
    return Fail(Code::kUnsupported, "the system gives commands no processes of their own");
  std::error_code error;
  const std::filesystem::path cwd = std::filesystem::current_path(error);
  RETURN_IF_ERROR(Part(privileged));
  for (const Mount& mount : mounts) RETURN_IF_ERROR(Cover(mount, stand_in));
  // The folder that we are in is still the one below the mounts.
  if (::chdir(cwd.c_str()) != 0) return FailSystem(errno, "go to " + cwd.string());
  return privileged ? DropRiskyCapabilities() : DropCapabilities();
}

}  // namespace stet::sandbox
