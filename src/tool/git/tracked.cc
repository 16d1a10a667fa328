#include "tool/git/tracked.h"

#include <deque>
#include <map>
#include <vector>

#include "base/fs.h"
#include "tool/git/tracked_repository.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxTrackedRepositories = 200;
constexpr std::int64_t kNone = -1;

}  // namespace

class TrackedFiles::Known {
 public:
  Known(std::string root, const Environment& environment)
      : root_(std::move(root)), environment_(environment) {
    for (std::string at = root_;; at = ParentDir(at)) {
      const std::string git = at == "/" ? "/.git" : at + "/.git";
      std::optional<GitRepository> found = OpenGitRepository(at, environment_);
      seen_.push_back({git, LooksOf(git)});
      if (found) {
        above_ = root_.size() > at.size() ? root_.substr(at == "/" ? 1 : at.size() + 1) : "";
        repositories_.emplace_back(*std::move(found), above_, seen_);
        outer_ = 0;
        break;
      }
      if (at.size() <= 1) break;
    }
    at_.emplace("", outer_);
  }

  [[nodiscard]] bool Stale() const {
    for (const SeenFile& one : seen_) {
      if (LooksOf(one.path) != one.looks) return true;
    }
    for (const TrackedRepository& one : repositories_) {
      if (one.moved()) return true;
    }
    return false;
  }

  std::optional<GitObject> ObjectOf(std::string_view path, const struct stat& now,
                                    HashBudget& budget) {
    if (!S_ISREG(now.st_mode)) return std::nullopt;
    const std::optional<Place> place = Find(path);
    if (!place) return std::nullopt;
    std::optional<std::string> id = repositories_[place->number].IdOf(place->path, now, budget);
    if (!id) return std::nullopt;
    return GitObject{.id = *std::move(id),
                     .repository = place->number,
                     .size = static_cast<std::uint64_t>(now.st_size)};
  }

  bool HasLink(std::string_view path, std::string_view target) {
    const std::optional<Place> place = Find(path);
    return place && repositories_[place->number].HasLink(place->path, target);
  }

  [[nodiscard]] const TrackedRepository& repository(std::uint32_t number) const {
    return repositories_[number];
  }
  [[nodiscard]] std::size_t count() const { return repositories_.size(); }

  /// The number of the repository that a folder of the project is in.
  std::int64_t RepositoryOf(const std::string& folder) {
    if (const auto known = at_.find(folder); known != at_.end()) return known->second;
    std::int64_t number = RepositoryOf(FolderInRepository(folder));
    const std::string top = root_ + "/" + folder;
    struct stat git{};
    if (::lstat((top + "/.git").c_str(), &git) == 0) {
      number = kNone;
      std::optional<GitRepository> found = repositories_.size() < kMaxTrackedRepositories
                                               ? OpenGitRepository(top, environment_)
                                               : std::nullopt;
      if (found) {
        number = static_cast<std::int64_t>(repositories_.size());
        tops_.resize(repositories_.size() + 1);
        tops_.back() = folder;
        repositories_.emplace_back(*std::move(found), "", seen_);
      }
    }
    at_.emplace(folder, number);
    return number;
  }

 private:
  struct Place {
    std::uint32_t number;
    std::string path;  // From the top of that repository.
  };
  /// Where the file at a path of the project is known, if it is. What the outer repository tracks
  /// is its own, whatever lies above it.
  std::optional<Place> Find(std::string_view path) {
    if (path.empty() || path.starts_with('/')) return std::nullopt;
    std::string outer = PathInRepository(above_, path);
    if (outer_ != kNone && repositories_[0].Tracks(outer)) return Place{0, std::move(outer)};
    const std::int64_t number = RepositoryOf(FolderInRepository(path));
    if (number == kNone || number == outer_) return std::nullopt;
    const std::string& top = tops_[static_cast<std::size_t>(number)];
    return Place{static_cast<std::uint32_t>(number), std::string(path.substr(top.size() + 1))};
  }

  std::string root_;
  Environment environment_;
  std::string above_;  // From the top of the outer repository to the project.
  std::int64_t outer_ = kNone;
  std::deque<TrackedRepository> repositories_;
  std::vector<std::string> tops_ = {""};  // Of each, from the top of the project.
  std::map<std::string, std::int64_t> at_;
  std::vector<SeenFile> seen_;
};

TrackedFiles::TrackedFiles(std::unique_ptr<Known> known) : known_(std::move(known)) {}
TrackedFiles::TrackedFiles(TrackedFiles&&) noexcept = default;
TrackedFiles& TrackedFiles::operator=(TrackedFiles&&) noexcept = default;
TrackedFiles::~TrackedFiles() = default;

TrackedFiles TrackedFiles::Read(const std::string& root, const Environment& environment) {
  return TrackedFiles(std::make_unique<Known>(root, environment));
}

bool TrackedFiles::Stale() const { return known_->Stale(); }

std::optional<GitObject> TrackedFiles::ObjectOf(std::string_view path, const struct stat& now,
                                                HashBudget& budget) const {
  return known_->ObjectOf(path, now, budget);
}

bool TrackedFiles::HasLink(std::string_view path, std::string_view target) const {
  return known_->HasLink(path, target);
}

const GitRepository& TrackedFiles::repository(std::uint32_t number) const {
  CHECK(number < known_->count(), "the number is one of a GitObject");
  return known_->repository(number).where();
}

std::optional<std::uint32_t> TrackedFiles::RepositoryOf(const std::string& folder) const {
  const std::int64_t number = known_->RepositoryOf(folder);
  return number == kNone ? std::nullopt : std::optional(static_cast<std::uint32_t>(number));
}

std::uint32_t TrackedFiles::repositories() const {
  return static_cast<std::uint32_t>(known_->count());
}

}  // namespace stet::tool
