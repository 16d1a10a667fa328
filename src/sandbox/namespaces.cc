#include "sandbox/namespaces.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
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

/// A file with nothing in it, to stand for hidden ones: on our own /dev, and without a name.
Result<Fd> EmptyFile() {
  constexpr const char* kPlace = "/dev/.stet-empty";
  Fd fd(::open(kPlace, O_CREAT | O_EXCL | O_RDONLY | O_CLOEXEC, 0444));
  if (!fd) return FailSystem(errno, "make an empty file");
  return fd;
}

Status Make(const Mount& mount, const Fd& source) {
  RETURN_IF_ERROR(MakePlace(mount));
  if (mount.kind != Mount::Kind::kHidden || !mount.is_dir)
    return Bind(fmt::format("/proc/self/fd/{}", source.get()), mount.path);
  if (::mount("none", mount.path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0555") != 0)
    return FailSystem(errno, "hide " + mount.path);
  return {};
}

Fd OpenPath(const std::string& path) {
  return Fd(::open(path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
}

Status MountMemory(const char* path, const char* options) {
  if (::mount("none", path, "tmpfs", MS_NOSUID, options) != 0)
    return FailSystem(errno, std::string("mount ") + path);
  return {};
}

/// Devices that commands have; bwrap makes the same ones.
constexpr const char* kDevices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                    "/dev/random", "/dev/urandom", "/dev/tty"};

/// A /dev with these, terminals of its own, and shared memory.
Status MakeDevices() {
  std::vector<Fd> sources;
  for (const char* device : kDevices) sources.push_back(OpenPath(device));
  RETURN_IF_ERROR(MountMemory("/dev", "mode=0755"));
  for (std::size_t i = 0; i < std::size(kDevices); ++i) {
    if (!sources[i]) continue;
    RETURN_IF_ERROR(OpenFile(kDevices[i], O_CREAT | O_WRONLY, 0666));
    RETURN_IF_ERROR(Bind(fmt::format("/proc/self/fd/{}", sources[i].get()), kDevices[i]));
  }
  for (const char* folder : {"/dev/pts", "/dev/shm"}) RETURN_IF_ERROR(MakeDirs(folder, 0755));
  RETURN_IF_ERROR(MountMemory("/dev/shm", "mode=1777"));
  if (::mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") != 0)
    return FailSystem(errno, "mount /dev/pts");
  constexpr std::pair<const char*, const char*> kLinks[] = {{"pts/ptmx", "/dev/ptmx"},
                                                            {"/proc/self/fd", "/dev/fd"},
                                                            {"/proc/self/fd/0", "/dev/stdin"},
                                                            {"/proc/self/fd/1", "/dev/stdout"},
                                                            {"/proc/self/fd/2", "/dev/stderr"}};
  for (const auto& [to, name] : kLinks) {
    if (::symlink(to, name) != 0) return FailSystem(errno, std::string("make ") + name);
  }
  return {};
}

Status MakeTemp(const std::string& temp, const Fd& source) {
  if (temp.empty()) return MountMemory("/tmp", "mode=1777");
  return Bind(fmt::format("/proc/self/fd/{}", source.get()), "/tmp");
}

Status MakeAll(const std::vector<Mount>& mounts, const std::string& temp) {
  // Opened before anything is hidden.
  std::vector<Fd> sources;
  for (const Mount& mount : mounts) sources.push_back(OpenPath(mount.path));
  const Fd temp_source = temp.empty() ? Fd() : OpenPath(temp);
  RETURN_IF_ERROR(MakeDevices());
  ASSIGN_OR_RETURN(const Fd empty, EmptyFile());
  RETURN_IF_ERROR(MakeTemp(temp, temp_source));
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const bool stands_in = mounts[i].kind == Mount::Kind::kHidden && !mounts[i].is_dir;
    RETURN_IF_ERROR(Make(mounts[i], stands_in ? empty : sources[i]));
  }
  // What only Landlock keeps can have its modes, owners and times changed; a mount cannot.
  RETURN_IF_ERROR(SetReadOnly("/", true, AT_RECURSIVE));
  for (const char* own : {"/tmp", "/dev", "/dev/shm"}) RETURN_IF_ERROR(SetReadOnly(own, false, 0));
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

Status SetReadOnly(const std::string& path, bool read_only, unsigned how) {
  const MountAttributes attributes{.set = read_only ? kReadOnlyAttribute : 0,
                                   .clear = read_only ? 0 : kReadOnlyAttribute};
  if (::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), how, &attributes, sizeof attributes) !=
      0)
    return FailSystem(errno, "mount " + path);
  return {};
}

Status EnterNamespaces(const std::vector<Mount>& mounts, const OwnPlaces& own) {
  if (::getppid() != 1)
    return Fail(Code::kUnsupported, "the system gives commands no processes of their own");
  std::error_code error;
  const std::filesystem::path cwd = std::filesystem::current_path(error);
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (own.network ? CLONE_NEWNET : 0)) != 0)
    return FailSystem(errno, "make namespaces");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return FailSystem(errno, "keep mounts to ourselves");
  RETURN_IF_ERROR(MakeAll(mounts, own.temp));
  // The folder that we are in is still the one below the mounts.
  if (::chdir(cwd.c_str()) != 0) return FailSystem(errno, "go to " + cwd.string());
  return own.network ? StartLoopback() : Status();
}

}  // namespace stet::sandbox
