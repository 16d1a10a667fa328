#include "tool/paths.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/other_names.h"

namespace stet::tool {

namespace {

constexpr int kMaxSymlinks = 40;  // As the kernel has it.

/// The parts of a path, the last one first.
std::vector<std::string> PartsReversed(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  std::ranges::reverse(parts);
  return parts;
}

/// What the kernel makes up: to look there, or to follow its links, may be anything.
bool IsMadeUp(std::string_view path) { return IsInside(path, "/proc") || IsInside(path, "/sys"); }

bool IsDevice(std::string_view path) {
  return IsInside(path, "/dev") && !IsInside(path, "/dev/shm");
}

/// Goes down a path part by part.
class Walk {
 public:
  explicit Walk(std::string_view path) : text_(path), todo_(PartsReversed(path)) {}

  Result<RealPath> Go() {
    while (!todo_.empty()) {
      const std::string part = std::move(todo_.back());
      todo_.pop_back();
      if (part == ".") continue;
      if (part == "..") {
        at_.resize(at_.rfind('/') == std::string::npos ? 0 : at_.rfind('/'));
        continue;
      }
      RETURN_IF_ERROR(Enter(part));
      if (IsMadeUp(at_)) return Refuse();
    }
    if (IsDevice(at_)) return Refuse();
    if (at_.empty()) at_ = "/";
    struct stat found{};
    return RealPath{.path = at_, .exists = ::lstat(at_.c_str(), &found) == 0};
  }

 private:
  std::unexpected<Error> Refuse() const {
    return Fail(Code::kInvalid,
                fmt::format("{} is not read or written: /proc, /sys and /dev hold no files of the "
                            "project.",
                            text_));
  }

  Status Enter(const std::string& part) {
    const std::string next = at_ + "/" + part;
    struct stat found{};
    if (::lstat(next.c_str(), &found) != 0) {
      if (errno == ENOTDIR)
        return Fail(Code::kInvalid, fmt::format("{}: {} is a file, not a folder.", text_, at_));
      if (errno != ENOENT) return FailSystem(errno, "look at " + next);
    } else if (S_ISLNK(found.st_mode)) {
      return Follow(next);
    }
    at_ = next;
    return {};
  }

  Status Follow(const std::string& link) {
    if (++links_ > kMaxSymlinks)
      return Fail(Code::kInvalid, fmt::format("{}: too many symlinks.", text_));
    std::array<char, PATH_MAX> buffer;
    const ssize_t length = ::readlink(link.c_str(), buffer.data(), buffer.size());
    if (length < 0) return FailSystem(errno, "look at " + link);
    const std::string_view target(buffer.data(), static_cast<std::size_t>(length));
    if (target.starts_with('/')) at_.clear();
    for (std::string& part : PartsReversed(target)) todo_.push_back(std::move(part));
    return {};
  }

  std::string_view text_;          // For messages.
  std::vector<std::string> todo_;  // The next part is the last.
  std::string at_;                 // Where we are; empty for the root.
  int links_ = 0;
};

}  // namespace

bool IsInside(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<RealPath> Resolve(std::string_view text, const Workspace& workspace) {
  if (text.empty()) return Fail(Code::kInvalid, "The path is empty.");
  if (text.find('\0') != std::string_view::npos)
    return Fail(Code::kInvalid, "The path has a NUL byte in it.");
  if (text.starts_with('~'))
    return Fail(Code::kInvalid,
                fmt::format("{}: ~ is not expanded. Give an absolute path, or one relative to {}.",
                            text, workspace.cwd));
  if (text.size() >= PATH_MAX) return Fail(Code::kInvalid, "The path is too long.");
  const std::string whole =
      text.starts_with('/') ? std::string(text) : fmt::format("{}/{}", workspace.cwd, text);
  ASSIGN_OR_RETURN(RealPath real, Walk(whole).Go());
  real.in_project = IsInside(real.path, workspace.project);
  return real;
}

Result<RealPath> ResolveDecided(std::string_view text, const Call& call) {
  ASSIGN_OR_RETURN(RealPath real, Resolve(text, call.workspace));
  if (call.decided == nullptr) return real;
  const auto has = [&](const std::vector<std::string>& paths) {
    return std::ranges::find(paths, real.path) != paths.end();
  };
  if (has(call.decided->reads) || has(call.decided->writes)) return real;
  return Fail(Code::kConflict,
              fmt::format("{} leads elsewhere now than when it was allowed. Look again.", text));
}

std::string RootOf(const std::string& path, const Workspace& workspace) {
  return path != workspace.project && IsInside(path, workspace.project) ? workspace.project : "/";
}

/// The mount that a path, or the nearest folder above it that exists, lies on; 0 when the kernel
/// does not say.
static std::uint64_t MountOf(std::string path) {
  for (;;) {
    struct statx found{};
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &found) == 0)
      return (found.stx_mask & STATX_MNT_ID) != 0 ? found.stx_mnt_id : 0;
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos || path == "/") return 0;
    path.resize(std::max<std::size_t>(slash, 1));
  }
}

static std::string AlsoExcluded(const std::string& path, const std::string& name,
                                const Workspace& workspace) {
  return fmt::format("{} is the same file as {} (a hard link), which is kept from sight",
                     Shown(path, workspace), name);
}

std::string CautionAboutReading(const std::string& path, const Workspace& workspace) {
  const OtherNames names = FindOtherNames(path, workspace);
  return names.excluded.empty() ? "" : AlsoExcluded(path, names.excluded, workspace);
}

std::string CautionAbout(const std::string& path, const Workspace& workspace) {
  const OtherNames names = FindOtherNames(path, workspace);
  if (!names.excluded.empty()) return AlsoExcluded(path, names.excluded, workspace);
  if (names.elsewhere)
    return fmt::format(
        "{} has other names outside of the project (hard links): a change is seen there too",
        Shown(path, workspace));
  if (!IsInside(path, workspace.project)) return "";
  const std::uint64_t mount = MountOf(path);
  if (mount == 0 || mount == MountOf(workspace.project)) return "";
  return fmt::format("{} lies on another mount than the project", Shown(path, workspace));
}

std::string Shown(const std::string& path, const Workspace& workspace) {
  if (path == workspace.cwd || !IsInside(path, workspace.cwd)) return path;
  return path.substr(workspace.cwd == "/" ? 1 : workspace.cwd.size() + 1);
}

}  // namespace stet::tool
