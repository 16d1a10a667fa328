#include "tool/git/tracked_repository.h"

#include <fcntl.h>

#include "base/fs.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::string_view kAttributesName = ".gitattributes";

std::uint64_t NanosOf(const timespec& time) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
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

}  // namespace

std::string FolderInRepository(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

std::string PathInRepository(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path += name;
}

Looks Looks::Of(const struct stat& now) {
  return {.mtime_ns = NanosOf(now.st_mtim),
          .ctime_ns = NanosOf(now.st_ctim),
          .inode = now.st_ino,
          .size = static_cast<std::uint64_t>(now.st_size)};
}

std::optional<Looks> LooksOf(const std::string& path) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0) return std::nullopt;
  // One that leads nowhere is what it is itself.
  if (struct stat behind{}; S_ISLNK(now.st_mode) && ::stat(path.c_str(), &behind) == 0)
    now = behind;
  return S_ISDIR(now.st_mode) ? Looks{.inode = now.st_ino} : Looks::Of(now);
}

TrackedRepository::TrackedRepository(GitRepository where, std::string below,
                                     std::vector<SeenFile>& seen)
    : where_(std::move(where)), below_(std::move(below)), attributes_(where_.ignore_case) {
  for (const std::string& path : where_.read) seen.push_back({path, LooksOf(path)});
  seen.push_back({where_.git + "/index", LooksOf(where_.git + "/index")});
  Result<GitIndex> index = GitIndex::Read(where_.git, where_.format);
  if (!index) return;
  index_ = *std::move(index);
  if (!index_.shared().empty()) {
    const std::string shared = where_.git + "/sharedindex." + index_.shared();
    seen.push_back({shared, LooksOf(shared)});
  }
  empty_id_ = BlobId("", where_.format);
  ReadAttributes(seen);
}

std::optional<std::string> TrackedRepository::IdOf(std::string_view path, const struct stat& now,
                                                   HashBudget& budget) {
  const GitIndexEntry* entry = index_.Find(path);
  if (entry == nullptr || !entry->is_file() || entry->to_add) return std::nullopt;
  if (!HasAttributesAsRead(FolderInRepository(path), budget) || attributes_.Rewrites(path))
    return std::nullopt;
  std::string id = HexOf({entry->id.data(), IdSize(where_.format)});
  const bool sure = LooksLike(*entry, now, id) && Settled(path, *entry);
  if (!sure && !HashesTo(*entry, now, id, budget)) return std::nullopt;
  return id;
}

bool TrackedRepository::HasLink(std::string_view path, std::string_view target) const {
  const GitIndexEntry* entry = index_.Find(path);
  constexpr std::uint32_t kLink = 0120000;
  return entry != nullptr && entry->mode == kLink && !entry->to_add &&
         HexOf({entry->id.data(), IdSize(where_.format)}) == BlobId(target, where_.format);
}

void TrackedRepository::ReadAttributes(std::vector<SeenFile>& seen) {
  const auto read = [&](const std::string& path) -> std::optional<GitAttributeFile> {
    seen.push_back({path, LooksOf(path)});
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

std::set<std::string> TrackedRepository::Folders() const {
  std::set<std::string> folders = {""};
  std::string last;
  for (const GitIndexEntry& entry : index_.entries()) {
    std::string folder = FolderInRepository(entry.path);
    if (folder == last) continue;
    last = folder;
    while (!folder.empty() && (IsIn(folder, below_) || IsIn(below_, folder) || folder == below_) &&
           folders.insert(folder).second)
      folder = FolderInRepository(folder);
  }
  return folders;
}

void TrackedRepository::ReadFolder(const std::string& folder, std::vector<SeenFile>& seen) {
  const std::string name = PathInRepository(folder, kAttributesName);
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
  const bool as_in_index = entry != nullptr && BlobId(file->bytes, where_.format) ==
                                                   HexOf({entry->id.data(), IdSize(where_.format)});
  if (!as_in_index) unsettled_.push_back(folder);
  changed_.emplace_back(folder, NanosOf(now.st_ctim));
  attributes_.AddFolder(folder, *std::move(parsed));
}

bool TrackedRepository::HasAttributesAsRead(const std::string& folder, HashBudget& budget) {
  std::string path = PathInRepository(where_.root, folder);
  if (const auto known = budget.as_read.find(path); known != budget.as_read.end())
    return known->second;
  bool same = folder.empty() || HasAttributesAsRead(FolderInRepository(folder), budget);
  if (same) {
    struct stat now{};
    const bool there = ::lstat(PathInRepository(path, kAttributesName).c_str(), &now) == 0;
    const auto before = there_.find(folder);
    same =
        there ? before != there_.end() && before->second == Looks::Of(now) : before == there_.end();
  }
  moved_ = moved_ || !same;
  budget.as_read.emplace(std::move(path), same);
  return same;
}

bool TrackedRepository::Settled(std::string_view path, const GitIndexEntry& entry) const {
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

bool TrackedRepository::LooksLike(const GitIndexEntry& entry, const struct stat& now,
                                  const std::string& id) const {
  const Looks looks = Looks::Of(now);
  // Of size 0 is also what git was not sure of.
  const bool known = entry.size != 0 || id == empty_id_;
  return known && !entry.racy && entry.size == static_cast<std::uint32_t>(looks.size) &&
         entry.mtime_ns == looks.mtime_ns && entry.ctime_ns == looks.ctime_ns &&
         entry.inode == static_cast<std::uint32_t>(looks.inode) &&
         ((entry.mode & S_IXUSR) != 0) == ((now.st_mode & S_IXUSR) != 0);
}

bool TrackedRepository::HashesTo(const GitIndexEntry& entry, const struct stat& now,
                                 const std::string& id, HashBudget& budget) {
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

}  // namespace stet::tool
