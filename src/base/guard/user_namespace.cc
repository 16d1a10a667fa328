#include "base/guard/user_namespace.h"

#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"

namespace stet::guard {
namespace {

bool WriteFileOnce(const char* path, const std::string& text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

bool StayWhoWeAre(uid_t user, gid_t group) {
  ::prctl(PR_SET_DUMPABLE, 1);  // Else these files are root's.
  const bool stayed = WriteFileOnce("/proc/self/setgroups", "deny") &&
                      WriteFileOnce("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) &&
                      WriteFileOnce("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
  ::prctl(PR_SET_DUMPABLE, 0);
  return stayed;
}

}  // namespace stet::guard
