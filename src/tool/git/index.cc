#include "tool/git/index.h"

#include <algorithm>

#include <sys/stat.h>

#include "base/fs.h"
#include "tool/paths.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::size_t kMaxIndex = std::size_t{256} << 20;
constexpr int kMaxDepth = 100;

std::uint32_t Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Goes through the entries of an index of version 2, 3 or 4.
class IndexReader {
 public:
  explicit IndexReader(std::string_view bytes) : bytes_(bytes) {}

  /// False when there is no index here.
  bool Begin() {
    constexpr std::size_t kHeader = 12;
    if (bytes_.size() < kHeader || !bytes_.starts_with("DIRC")) return false;
    version_ = Number(bytes_, 4, 4);
    count_ = Number(bytes_, 8, 4);
    at_ = kHeader;
    return version_ >= 2 && version_ <= 4;
  }

  /// False at the end, or where the bytes make no sense. Fixed are the fields of lstat; the flags
  /// are behind the hash.
  bool Next() {
    constexpr std::size_t kFixed = 62;
    constexpr std::size_t kFlags = 60;
    if (seen_ == count_ || bytes_.size() - at_ < kFixed) return false;
    start_ = at_;
    flags_ = Number(bytes_, at_ + kFlags, 2);
    at_ += kFixed;
    constexpr std::uint32_t kExtended = 0x4000;
    if (version_ >= 3 && (flags_ & kExtended) != 0) {
      if (bytes_.size() - at_ < 2) return false;
      at_ += 2;
    }
    if (!(version_ == 4 ? TakeShortPath() : TakePath())) return false;
    ++seen_;
    return true;
  }

  [[nodiscard]] std::uint32_t Field(std::size_t at) const { return Number(bytes_, start_ + at, 4); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// All entries were read.
  [[nodiscard]] bool done() const { return seen_ == count_; }
  /// It is the one version of the file, and git looks at the file.
  [[nodiscard]] bool plain() const {
    constexpr std::uint32_t kStageOrValid = 0xB000;
    return (flags_ & kStageOrValid) == 0;
  }

 private:
  /// Up to a NUL, then NULs until the entry's length can be divided by eight.
  bool TakePath() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return false;
    path_ = bytes_.substr(at_, end - at_);
    at_ = start_ + ((end - start_ + 8) & ~std::size_t{7});
    return at_ <= bytes_.size();
  }

  /// How many bytes of the path before go, then what comes behind the rest.
  bool TakeShortPath() {
    std::size_t gone = 0;
    for (bool first = true;; first = false) {
      if (at_ == bytes_.size() || gone > bytes_.size()) return false;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      gone = (first ? 0 : (gone + 1) << 7U) | (byte & 0x7FU);
      if ((byte & 0x80U) == 0) break;
    }
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos || gone > path_.size()) return false;
    path_.resize(path_.size() - gone);
    path_ += bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return true;
  }

  std::string_view bytes_;
  std::uint32_t version_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t seen_ = 0;
  std::uint32_t flags_ = 0;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  std::string path_;
};

}  // namespace

GitIndex GitIndex::Parse(std::string_view bytes, std::uint64_t mtime_ns) {
  GitIndex index;
  IndexReader reader(bytes);
  if (!reader.Begin()) return index;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  while (reader.Next()) {
    const Entry entry{.mtime = reader.Field(8),
                      .mtime_nanos = reader.Field(12),
                      .size = reader.Field(36),
                      .inode = reader.Field(20)};
    // A file that was changed in the moment the index was written may look as it did before.
    const bool sure = entry.mtime * kSecond + entry.mtime_nanos < mtime_ns;
    if (reader.plain() && sure) index.entries_.emplace(reader.path(), entry);
  }
  return index;
}

GitIndex GitIndex::Read(const std::string& root) {
  const std::string path = root + "/.git/index";
  const Result<FileStat> stat = StatFile(path);
  if (!stat || !stat->is_file) return {};
  const Result<std::string> bytes = ReadFile(path, kMaxIndex);
  return bytes ? Parse(*bytes, stat->mtime_ns) : GitIndex();
}

bool GitIndex::Has(const std::string& root, const std::string& path) const {
  const auto found = entries_.find(path);
  struct stat now{};
  if (found == entries_.end() || ::lstat((root + "/" + path).c_str(), &now) != 0) return false;
  const Entry& entry = found->second;
  return entry.size == static_cast<std::uint32_t>(now.st_size) &&
         entry.mtime == static_cast<std::uint32_t>(now.st_mtim.tv_sec) &&
         entry.mtime_nanos == static_cast<std::uint32_t>(now.st_mtim.tv_nsec) &&
         entry.inode == static_cast<std::uint32_t>(now.st_ino);
}

namespace {

/// Whether git has every file below a folder.
bool HasAll(const GitIndex& index, const std::string& root, const std::string& folder,
            std::size_t& files, int depth) {
  const Result<std::vector<DirEntry>> entries = ListDir(root + "/" + folder);
  if (!entries || depth > kMaxDepth) return false;
  return std::ranges::all_of(*entries, [&](const DirEntry& entry) {
    const std::string path = folder + "/" + entry.name;
    if (entry.kind == EntryKind::kDir)
      return entry.name != ".git" && HasAll(index, root, path, files, depth + 1);
    return ++files <= kMaxRestorableFiles && index.Has(root, path);
  });
}

}  // namespace

Result<std::vector<std::string>> GitLinks(const std::string& index_file) {
  constexpr std::uint32_t kKind = 0xF000;
  constexpr std::uint32_t kLink = 0xE000;
  constexpr std::size_t kMode = 24;
  ASSIGN_OR_RETURN(const FileBytes file, ReadRegularFile(index_file, kMaxLinkedIndex));
  std::vector<std::string> links;
  IndexReader reader(file.bytes);
  const bool good = reader.Begin();
  while (good && reader.Next()) {
    if ((reader.Field(kMode) & kKind) == kLink) links.push_back(reader.path());
  }
  if (!good || !reader.done()) return Fail(Code::kInvalid, index_file + " makes no sense");
  return links;
}

bool IsRestorable(const std::string& root, const std::string& path) {
  struct stat now{};
  if (::lstat(path.c_str(), &now) != 0) return true;
  if (root.empty() || path == root || !IsInside(path, root)) return false;
  const GitIndex index = GitIndex::Read(root);
  if (index.size() == 0) return false;
  const std::string below = path.substr(root.size() + 1);
  std::size_t files = 0;
  return S_ISDIR(now.st_mode) ? HasAll(index, root, below, files, 0) : index.Has(root, below);
}

}  // namespace stet::tool
