#include "sandbox/bubblewrap.h"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include "sandbox/capabilities.h"

namespace stet::sandbox {
namespace {

using Arguments = std::vector<std::string>;

void Append(Arguments& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

void AppendMount(Arguments& arguments, const Mount& mount, const std::string& empty) {
  switch (mount.kind) {
    case Mount::Kind::kWritable:
    case Mount::Kind::kPinned: return Append(arguments, {"--bind", mount.path, mount.path});
    case Mount::Kind::kReadOnly: return Append(arguments, {"--ro-bind", mount.path, mount.path});
    case Mount::Kind::kHidden:
      if (!mount.is_dir) return Append(arguments, {"--ro-bind", empty, mount.path});
      return Append(arguments, {"--perms", "0555", "--tmpfs", mount.path});
  }
}

/// /bin and the like are often links.
void AppendReadable(Arguments& arguments, const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_symlink(path, error))
    return Append(arguments,
                  {"--symlink", std::filesystem::read_symlink(path, error).string(), path});
  // bwrap gives up at one that we may not reach.
  if (::access(path.c_str(), F_OK) == 0) Append(arguments, {"--ro-bind-try", path, path});
}

}  // namespace

Arguments BubblewrapArguments(const Profile& profile, const std::vector<Mount>& mounts,
                              const BubblewrapWish& wish) {
  Arguments arguments{"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
                      "--die-with-parent"};
  if (profile.network != network::kOpen) arguments.emplace_back("--unshare-net");
  if (wish.privileged)
    Append(arguments, {"--cap-drop", "ALL"});
  else
    arguments.emplace_back("--unshare-user");
  if (profile.readable.empty()) Append(arguments, {"--ro-bind", "/", "/"});
  for (const std::string& path : profile.readable) AppendReadable(arguments, path);
  Append(arguments, {"--dev", "/dev", "--proc", "/proc"});
  if (!profile.temp.empty()) Append(arguments, {"--bind", profile.temp, "/tmp"});
  for (const Mount& mount : mounts) AppendMount(arguments, mount, wish.empty);
  // Only now: what is mounted inside of these needed places to be mounted at.
  for (const Mount& mount : mounts) {
    if (mount.is_dir && mount.kind == Mount::Kind::kHidden)
      Append(arguments, {"--remount-ro", mount.path});
  }
  // Root needs no capability to tell the kernel something there.
  Append(arguments, {"--remount-ro", "/proc"});
  if (!profile.readable.empty()) Append(arguments, {"--remount-ro", "/"});
  Append(arguments, {"--chdir", wish.cwd});
  return arguments;
}

Arguments HidingArguments(const std::vector<Mount>& mounts, const BubblewrapWish& wish) {
  Arguments arguments{"--die-with-parent"};
  if (!wish.privileged) arguments.emplace_back("--unshare-user");
  for (const RiskyCapability& one : kRiskyCapabilities) {
    if (wish.privileged) Append(arguments, {"--cap-drop", one.name});
  }
  Append(arguments, {"--dev-bind", "/", "/"});
  // bwrap itself waits outside with no more rights than the command: root would look through its
  // eyes (/proc/PID/root).
  if (wish.privileged) Append(arguments, {"--unshare-pid", "--proc", "/proc"});
  for (const Mount& mount : mounts) {
    if (mount.kind == Mount::Kind::kHidden && mount.is_dir)
      Append(arguments, {"--perms", "0000", "--tmpfs", mount.path, "--remount-ro", mount.path});
    else
      AppendMount(arguments, mount, wish.empty);
  }
  Append(arguments, {"--chdir", wish.cwd});
  return arguments;
}

}  // namespace stet::sandbox
