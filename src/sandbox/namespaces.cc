#include "sandbox/namespaces.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"

namespace stet::sandbox {
namespace {

// As the kernel has it: glibc's <sys/mount.h> and <linux/mount.h> exclude one another.
struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};
constexpr std::uint64_t kReadOnlyAttribute = 1;

Status WriteFileOnce(const char* path, std::string_view text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return FailSystem(errno, fmt::format("write {}", path));
  return {};
}

Status Unshare(int flags) {
  if (::unshare(flags) == 0) return {};
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(flags | CLONE_NEWUSER) != 0) return FailSystem(errno, "make namespaces");
  RETURN_IF_ERROR(WriteFileOnce("/proc/self/setgroups", "deny"));
  RETURN_IF_ERROR(WriteFileOnce("/proc/self/uid_map", fmt::format("{0} {0} 1", user)));
  return WriteFileOnce("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

Status SetReadOnly(const std::string& path, bool read_only, unsigned how) {
  const MountAttributes attributes{.set = read_only ? kReadOnlyAttribute : 0,
                                   .clear = read_only ? 0 : kReadOnlyAttribute};
  if (::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), how, &attributes, sizeof attributes) !=
      0)
    return FailSystem(errno, "mount " + path);
  return {};
}

Status Bind(const std::string& from, const std::string& to) {
  if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return FailSystem(errno, "mount " + to);
  return {};
}

/// Places for what is mounted inside of a hidden folder.
Status MakePlace(const Mount& mount) {
  if (Exists(mount.path)) return {};
  RETURN_IF_ERROR(MakeDirs(mount.is_dir ? mount.path : ParentDir(mount.path), 0755));
  if (mount.is_dir) return {};
  RETURN_IF_ERROR(OpenFile(mount.path, O_CREAT | O_WRONLY, 0444));
  return {};
}

Status Make(const Mount& mount, const Fd& source) {
  switch (mount.kind) {
    case Mount::Kind::kWritable:
    case Mount::Kind::kPinned:
    case Mount::Kind::kReadOnly:
      RETURN_IF_ERROR(MakePlace(mount));
      return Bind(fmt::format("/proc/self/fd/{}", source.get()), mount.path);
    case Mount::Kind::kAbsent: RETURN_IF_ERROR(MakeDirs(mount.path)); [[fallthrough]];
    case Mount::Kind::kHidden:
      if (!mount.is_dir) return Bind(fmt::format("/proc/self/fd/{}", source.get()), mount.path);
      if (::mount("none", mount.path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0555") != 0)
        return FailSystem(errno, "hide " + mount.path);
      return {};
  }
  return {};
}

Status MakeAll(const std::vector<Mount>& mounts, const std::string& empty) {
  // Opened before anything is hidden.
  std::vector<Fd> sources;
  for (const Mount& mount : mounts) {
    const bool stands_in = mount.kind == Mount::Kind::kHidden && !mount.is_dir;
    const std::string& from = stands_in ? empty : mount.path;
    sources.emplace_back(::open(from.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  }
  for (std::size_t i = 0; i < mounts.size(); ++i) RETURN_IF_ERROR(Make(mounts[i], sources[i]));
  // Landlock lets modes, owners and times be changed; a mount that is read-only does not.
  RETURN_IF_ERROR(SetReadOnly("/", true, AT_RECURSIVE));
  for (const Mount& mount : mounts) {
    if (mount.kind == Mount::Kind::kWritable || mount.kind == Mount::Kind::kPinned)
      RETURN_IF_ERROR(SetReadOnly(mount.path, false, 0));
  }
  return {};
}

Status StartLoopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    return FailSystem(errno, "start the loopback");
  return {};
}

}  // namespace

Status EnterNamespaces(const std::vector<Mount>& mounts, const std::string& empty,
                       bool own_network) {
  std::error_code error;
  const std::filesystem::path cwd = std::filesystem::current_path(error);
  RETURN_IF_ERROR(
      Unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (own_network ? CLONE_NEWNET : 0)));
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return FailSystem(errno, "keep mounts to ourselves");
  RETURN_IF_ERROR(MakeAll(mounts, empty));
  // The folder that we are in is still the one below the mounts.
  if (::chdir(cwd.c_str()) != 0) return FailSystem(errno, "go to " + cwd.string());
  return own_network ? StartLoopback() : Status();
}

bool MayMount() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> ours{};
  return ::syscall(SYS_capget, &header, ours.data()) == 0 &&
         (ours[0].effective & (1U << CAP_SYS_ADMIN)) != 0;
}

Status DropCapabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  constexpr int kMostCapabilities = 64;
  // Fails for those that the kernel does not know, and for all where we have none to drop.
  for (int capability = 0; capability < kMostCapabilities; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0)
    return FailSystem(errno, "give up capabilities");
  return {};
}

}  // namespace stet::sandbox
