#include "tool/git/tracked.h"

#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include <fcntl.h>

#include "base/fs.h"
#include "tool/git/attributes.h"
#include "tool/git/index.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxTrackedRepositories = 200;
constexpr std::string_view kAttributesName = ".gitattributes";
constexpr std::int64_t kNone = -1;

std::uint64_t NanosOf(const timespec& time) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// How a file looks: when this is the same, so are its bytes, unless it was just changed.
struct Looks {
  std::uint64_t mtime_ns = 0;
  std::uint64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;

  static Looks Of(const struct stat& now) {
    return {.mtime_ns = NanosOf(now.st_mtim),
            .ctime_ns = NanosOf(now.st_ctim),
            .inode = now.st_ino,
            .size = static_cast<std::uint64_t>(now.st_size)};
  }
  friend bool operator==(const Looks&, const Looks&) = default;
};

/// A file that was looked at, or its absence.
struct Seen {
  std::string path;
  std::optional<Looks> looks;
};

/// Follows links: what is named may be one, and what is behind it counts. Of a folder only which it
/// is: git makes its locks in it.
std::optional<Looks> LooksOf(const std::string& path) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0) return std::nullopt;
  // One that leads nowhere is what it is itself.
  if (struct stat behind{}; S_ISLNK(now.st_mode) && ::stat(path.c_str(), &behind) == 0)
    now = behind;
  return S_ISDIR(now.st_mode) ? Looks{.inode = now.st_ino} : Looks::Of(now);
}

std::string FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

std::string Joined(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

bool IsIn(std::string_view path, std::string_view folder) {
  return folder.empty() ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

/// The bytes of the file that looks like `now`, and did so before and after they were read.
std::optional<std::string> BytesOf(const std::string& path, const struct stat& now) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat facts{};
  const auto same = [&] {
    return ::fstat(fd.get(), &facts) == 0 && facts.st_dev == now.st_dev &&
           Looks::Of(facts) == Looks::Of(now);
  };
  if (!fd || !same()) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(now.st_size), '\0');
  const Result<std::size_t> got = Pread(fd.get(), bytes, 0);
  if (!got || *got != bytes.size() || !same()) return std::nullopt;
  return bytes;
}

/// One repository: its index, its attributes, and which files were hashed.
class TrackedRepository {
 public:
  /// `below`: what of its files is asked about, "" for all.
  TrackedRepository(GitRepository where, std::string below, std::vector<Seen>& seen)
      : where_(std::move(where)), below_(std::move(below)), attributes_(where_.ignore_case) {
    for (const std::string& path : where_.read) seen.push_back({path, LooksOf(path)});
    Take(where_.git + "/index", seen);
    Result<GitIndex> index = GitIndex::Read(where_.git, where_.format);
    if (!index) return;
    index_ = *std::move(index);
    if (!index_.shared().empty()) Take(where_.git + "/sharedindex." + index_.shared(), seen);
    empty_id_ = BlobId("", where_.format);
    ReadAttributes(seen);
  }

  [[nodiscard]] const GitRepository& where() const { return where_; }

  /// The id of the object that has what is in the file at `path`, from the top of the repository.
  std::optional<std::string> IdOf(std::string_view path, const struct stat& now,
                                  HashBudget& budget) {
    const GitIndexEntry* entry = index_.Find(path);
    if (entry == nullptr || !entry->is_file() || entry->to_add) return std::nullopt;
    if (!HasAttributesAsRead(FolderOf(path), budget) || attributes_.Rewrites(path))
      return std::nullopt;
    const std::string id = HexOf({entry->id.data(), IdSize(where_.format)});
    const bool sure = LooksLike(*entry, now, id) && Settled(path, *entry);
    if (!sure && !HashesTo(*entry, now, id, budget)) return std::nullopt;
    return id;
  }
  [[nodiscard]] bool HasLink(std::string_view path, std::string_view target) const {
    const GitIndexEntry* entry = index_.Find(path);
    constexpr std::uint32_t kLink = 0120000;
    return entry != nullptr && entry->mode == kLink && !entry->to_add &&
           HexOf({entry->id.data(), IdSize(where_.format)}) == BlobId(target, where_.format);
  }
  /// Attributes are no more as they were read.
  [[nodiscard]] bool moved() const { return moved_; }
  [[nodiscard]] bool Tracks(std::string_view path) const { return index_.Find(path) != nullptr; }

 private:
  static void Take(const std::string& path, std::vector<Seen>& seen) {
    seen.push_back({path, LooksOf(path)});
  }

  void ReadAttributes(std::vector<Seen>& seen) {
    const auto read = [&](const std::string& path) -> std::optional<GitAttributeFile> {
      Take(path, seen);
      if (const std::optional<Looks> looks = LooksOf(path))
        changed_.emplace_back("", looks->ctime_ns);
      Result<FileBytes> file = ReadRegularFile(path, kMaxGitAttributes);
      if (!file && file.error().code == Code::kNotFound) return GitAttributeFile();
      Result<GitAttributeFile> parsed =
          file ? ParseGitAttributes(file->bytes, true) : std::unexpected(file.error());
      if (parsed) return *std::move(parsed);
      attributes_.Doubt("");
      return std::nullopt;
    };
    if (where_.unsure) attributes_.Doubt("");
    if (auto own = read(where_.common + "/info/attributes")) attributes_.SetOwn(*std::move(own));
    if (auto system = read("/etc/gitattributes")) attributes_.SetSystem(*std::move(system));
    for (const std::string& path : where_.attributes) {
      if (auto users = read(path)) attributes_.AddUsers(*std::move(users));
    }
    for (const std::string& folder : Folders()) ReadFolder(folder, seen);
    attributes_.Settle();
  }

  /// Those with tracked files and those above them, as far as they matter for what is asked about.
  [[nodiscard]] std::set<std::string> Folders() const {
    std::set<std::string> folders = {""};
    std::string last;
    for (const GitIndexEntry& entry : index_.entries()) {
      std::string folder = FolderOf(entry.path);
      if (folder == last) continue;
      last = folder;
      while (!folder.empty() &&
             (IsIn(folder, below_) || IsIn(below_, folder) || folder == below_) &&
             folders.insert(folder).second)
        folder = FolderOf(folder);
    }
    return folders;
  }

  void ReadFolder(const std::string& folder, std::vector<Seen>& seen) {
    const std::string name = Joined(folder, kAttributesName);
    const std::string path = where_.root + "/" + name;
    struct stat now{};
    const bool there = ::lstat(path.c_str(), &now) == 0;
    if (there) {
      seen.push_back({path, LooksOf(path)});
      there_.emplace(folder, Looks::Of(now));
    }
    const GitIndexEntry* entry = index_.Find(name);
    if (!there) {
      // git takes the one in the index then.
      if (entry != nullptr) unsettled_.push_back(folder);
      return;
    }
    const Result<FileBytes> file = ReadRegularFile(path, kMaxGitAttributes);
    Result<GitAttributeFile> parsed = file && S_ISREG(now.st_mode)
                                          ? ParseGitAttributes(file->bytes, folder.empty())
                                          : Fail(Code::kInvalid, "");
    if (!parsed) return attributes_.Doubt(folder);
    const bool as_in_index =
        entry != nullptr &&
        BlobId(file->bytes, where_.format) == HexOf({entry->id.data(), IdSize(where_.format)});
    if (!as_in_index) unsettled_.push_back(folder);
    changed_.emplace_back(folder, NanosOf(now.st_ctim));
    attributes_.AddFolder(folder, *std::move(parsed));
  }

  bool HasAttributesAsRead(const std::string& folder, HashBudget& budget) {
    std::string path = Joined(where_.root, folder);
    if (const auto known = budget.as_read.find(path); known != budget.as_read.end())
      return known->second;
    bool same = folder.empty() || HasAttributesAsRead(FolderOf(folder), budget);
    if (same) {
      struct stat now{};
      const bool there = ::lstat(Joined(path, kAttributesName).c_str(), &now) == 0;
      const auto before = there_.find(folder);
      same = there ? before != there_.end() && before->second == Looks::Of(now)
                   : before == there_.end();
    }
    moved_ = moved_ || !same;
    budget.as_read.emplace(std::move(path), same);
    return same;
  }

  /// A file that was written under other attributes may look as the index has it and be something
  /// else: where attributes have changed only a hash counts. Of other things than filters the size
  /// of the object tells.
  [[nodiscard]] bool Settled(std::string_view path, const GitIndexEntry& entry) const {
    for (const std::string& folder : unsettled_) {
      if (IsIn(path, folder)) return false;
    }
    using Filters = GitRepository::Filters;
    const bool filtered = where_.filters == Filters::kOthers ||
                          (where_.filters == Filters::kLfs && entry.size < kMaxLfsPointer);
    if (!filtered) return true;
    for (const auto& [folder, changed_ns] : changed_) {
      if (IsIn(path, folder) && entry.ctime_ns <= changed_ns) return false;
    }
    return true;
  }

  [[nodiscard]] bool LooksLike(const GitIndexEntry& entry, const struct stat& now,
                               const std::string& id) const {
    const Looks looks = Looks::Of(now);
    // Of size 0 is also what git was not sure of.
    const bool known = entry.size != 0 || id == empty_id_;
    return known && !entry.racy && entry.size == static_cast<std::uint32_t>(looks.size) &&
           entry.mtime_ns == looks.mtime_ns && entry.ctime_ns == looks.ctime_ns &&
           entry.inode == static_cast<std::uint32_t>(looks.inode) &&
           ((entry.mode & S_IXUSR) != 0) == ((now.st_mode & S_IXUSR) != 0);
  }

  bool HashesTo(const GitIndexEntry& entry, const struct stat& now, const std::string& id,
                HashBudget& budget) {
    const Looks looks = Looks::Of(now);
    if (looks.size > kMaxHashedFile || (entry.size != 0 && entry.size != looks.size)) return false;
    if (const auto known = hashed_.find(&entry); known != hashed_.end()) {
      if (known->second.looks == looks) return known->second.equal;
    }
    if (looks.size > budget.bytes || budget.until.Passed()) return false;
    budget.bytes -= looks.size;
    const Millis when = SystemClock().Now();
    const std::optional<std::string> bytes = BytesOf(where_.root + "/" + entry.path, now);
    const bool equal = bytes && BlobId(*bytes, where_.format) == id;
    // What was changed just now may be changed again and look the same.
    constexpr std::uint64_t kNanosInMilli = 1'000'000;
    constexpr Millis kSurelyPast = 1000;
    if (bytes && static_cast<Millis>(looks.ctime_ns / kNanosInMilli) + kSurelyPast < when)
      hashed_.insert_or_assign(&entry, Hashed{looks, equal});
    return equal;
  }

  struct Hashed {
    Looks looks;
    bool equal;
  };

  GitRepository where_;
  std::string below_;
  GitIndex index_;
  GitAttributes attributes_;
  std::string empty_id_;
  std::map<std::string, Looks> there_;  // Files of attributes, by folder.
  bool moved_ = false;
  std::vector<std::string> unsettled_;  // Folders whose attributes are not those of the index.
  std::vector<std::pair<std::string, std::uint64_t>> changed_;  // When those of folders changed.
  std::unordered_map<const GitIndexEntry*, Hashed> hashed_;
};

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
    for (const Seen& one : seen_) {
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

 private:
  struct Place {
    std::uint32_t number;
    std::string path;  // From the top of that repository.
  };
  /// Where the file at a path of the project is known, if it is. What the outer repository tracks
  /// is its own, whatever lies above it.
  std::optional<Place> Find(std::string_view path) {
    if (path.empty() || path.starts_with('/')) return std::nullopt;
    std::string outer = Joined(above_, path);
    if (outer_ != kNone && repositories_[0].Tracks(outer)) return Place{0, std::move(outer)};
    const std::int64_t number = RepositoryOf(FolderOf(path));
    if (number == kNone || number == outer_) return std::nullopt;
    const std::string& top = tops_[static_cast<std::size_t>(number)];
    return Place{static_cast<std::uint32_t>(number), std::string(path.substr(top.size() + 1))};
  }

  /// The number of the repository that a folder of the project is in.
  std::int64_t RepositoryOf(const std::string& folder) {
    if (const auto known = at_.find(folder); known != at_.end()) return known->second;
    std::int64_t number = RepositoryOf(FolderOf(folder));
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

  std::string root_;
  Environment environment_;
  std::string above_;  // From the top of the outer repository to the project.
  std::int64_t outer_ = kNone;
  std::deque<TrackedRepository> repositories_;
  std::vector<std::string> tops_ = {""};  // Of each, from the top of the project.
  std::map<std::string, std::int64_t> at_;
  std::vector<Seen> seen_;
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

std::uint32_t TrackedFiles::repositories() const {
  return static_cast<std::uint32_t>(known_->count());
}

}  // namespace stet::tool
