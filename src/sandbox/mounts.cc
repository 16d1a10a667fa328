#include "sandbox/mounts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <tuple>

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet::sandbox {
namespace {

/// Empty when it is not there.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : "";
}

class Planner {
 public:
  explicit Planner(const Profile& profile) : profile_(profile) {}

  std::vector<Mount> Plan() {
    for (const std::string& path : profile_.readable) AddReadable(path);
    for (const std::string& path : profile_.writable) {
      if (LeadsWhereItSays(path)) Add(Mount::Kind::kWritable, path);
    }
    for (const std::string& path : profile_.read_only) {
      if (LeadsWhereItSays(path) || StaysWritable(RealPath(path)))
        Add(Mount::Kind::kReadOnly, path);
      PinAbove(path);
    }
    for (const std::string& path : profile_.hidden) {
      if (!IsSeen(path)) continue;
      Add(Mount::Kind::kHidden, path);
      PinAbove(path);
    }
    std::ranges::stable_sort(mounts_, {}, [](const Mount& one) {
      return std::tuple(one.path, static_cast<int>(one.kind));
    });
    DropDoubles();
    return std::move(mounts_);
  }

 private:
  void Add(Mount::Kind kind, const std::string& path) {
    const std::string real = RealPath(path);
    if (real.empty() || real == "/") return;
    mounts_.push_back({kind, real, StatFile(real).value_or(FileStat{}).is_dir});
  }

  /// What lies where the command has folders of its own must be put there again.
  void AddReadable(const std::string& path) {
    const std::string real = RealPath(path);
    for (const char* own : {"/tmp", "/dev"}) {
      if (real != own && Inside(real, own)) Add(Mount::Kind::kReadOnly, real);
    }
  }
  [[nodiscard]] bool IsSeen(const std::string& path) const {
    const auto has = [&](const std::string& folder) { return Inside(path, folder); };
    return profile_.readable.empty() || std::ranges::any_of(profile_.readable, has) ||
           std::ranges::any_of(profile_.writable, has);
  }

  /// Below a folder that commands may write a symlink may be theirs: it must not make anything
  /// visible or writable that is not.
  [[nodiscard]] bool LeadsWhereItSays(const std::string& path) const {
    return RealPath(path) == path ||
           std::ranges::none_of(profile_.writable, [&](const std::string& folder) {
             return path != folder && Inside(path, folder);
           });
  }
  [[nodiscard]] bool StaysWritable(const std::string& real) const {
    const auto has = [&](const std::string& folder) { return Inside(real, folder); };
    return std::ranges::any_of(profile_.writable, has) &&
           std::ranges::none_of(profile_.hidden, has);
  }

  /// A folder with a mount in it can be renamed, and another be made in its place; a mount cannot.
  void PinAbove(const std::string& path) {
    for (std::string above = ParentDir(path); above.size() > 1; above = ParentDir(above)) {
      const bool within = std::ranges::any_of(profile_.writable, [&](const std::string& folder) {
        return above != folder && Inside(above, folder);
      });
      if (!within) return;
      if (LeadsWhereItSays(above)) Add(Mount::Kind::kPinned, above);
    }
  }

  /// Of one path the last kind counts: they stand in that order.
  void DropDoubles() {
    std::vector<Mount> kept;
    for (Mount& mount : mounts_) {
      if (!kept.empty() && kept.back().path == mount.path) kept.pop_back();
      kept.push_back(std::move(mount));
    }
    mounts_ = std::move(kept);
  }

  const Profile& profile_;
  std::vector<Mount> mounts_;
};

}  // namespace

std::vector<Mount> PlanMounts(const Profile& profile) { return Planner(profile).Plan(); }

}  // namespace stet::sandbox
