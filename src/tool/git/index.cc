#include "tool/git/index.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <sys/stat.h>

#include "base/fs.h"
#include "tool/git/ewah.h"
#include "tool/text_file.h"

namespace stet::tool {
namespace {

constexpr std::uint64_t kNanosInSecond = 1'000'000'000;

std::uint32_t Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Goes through one file: its entries, then what its extensions say.
class IndexReader {
 public:
  IndexReader(const GitIndexFile& file, GitFormat format)
      : bytes_(file.bytes), time_ns_(file.time_ns), id_size_(IdSize(format)) {}

  /// False when there is no index here.
  bool Begin() {
    constexpr std::size_t kHeader = 12;
    if (bytes_.size() < kHeader + id_size_ || !bytes_.starts_with("DIRC")) return false;
    version_ = Number(bytes_, 4, 4);
    count_ = Number(bytes_, 8, 4);
    bytes_.remove_suffix(id_size_);  // The hash of all before it.
    at_ = kHeader;
    return version_ >= 2 && version_ <= 4;
  }

  /// False at the end, or where the bytes make no sense. First are the ten fields of lstat and the
  /// id, then flags.
  bool Next() {
    const std::size_t fixed = kStatBytes + id_size_ + 2;
    if (seen_ == count_ || bytes_.size() - at_ < fixed) return false;
    start_ = at_;
    entry_ = {};
    const std::uint32_t flags = Number(bytes_, at_ + kStatBytes + id_size_, 2);
    at_ += fixed;
    constexpr std::uint32_t kExtended = 0x4000;
    if ((flags & kExtended) != 0 && !TakeMoreFlags()) return false;
    if (!(version_ == 4 ? TakeShortPath() : TakePath())) return false;
    TakeFields(flags);
    ++seen_;
    return true;
  }

  [[nodiscard]] bool at_end() const { return seen_ == count_; }
  [[nodiscard]] GitIndexEntry& entry() { return entry_; }

  /// Behind the entries. False when there is one that must be understood and is not, or makes no
  /// sense.
  bool TakeExtensions() {
    constexpr std::size_t kHead = 8;
    while (at_ < bytes_.size()) {
      if (bytes_.size() - at_ < kHead) return false;
      const std::string_view name = bytes_.substr(at_, 4);
      const std::size_t size = Number(bytes_, at_ + 4, 4);
      at_ += kHead;
      if (bytes_.size() - at_ < size) return false;
      if (name == "link")
        link_ = bytes_.substr(at_, size);
      else if ((name[0] < 'A' || name[0] > 'Z') && name != "sdir")
        return false;
      at_ += size;
    }
    return true;
  }
  [[nodiscard]] std::optional<std::string_view> link() const { return link_; }

 private:
  static constexpr std::size_t kStatBytes = 40;

  bool TakeMoreFlags() {
    constexpr std::uint32_t kKnown = 0x6000;  // Skip-worktree, intent-to-add.
    constexpr std::uint32_t kToAdd = 0x2000;
    if (version_ < 3 || bytes_.size() - at_ < 2) return false;
    const std::uint32_t more = Number(bytes_, at_, 2);
    at_ += 2;
    entry_.to_add = (more & kToAdd) != 0;
    return (more & ~kKnown) == 0;
  }

  [[nodiscard]] std::uint64_t Moment(std::size_t at) const {
    return Number(bytes_, start_ + at, 4) * kNanosInSecond + Number(bytes_, start_ + at + 4, 4);
  }

  void TakeFields(std::uint32_t flags) {
    constexpr std::uint32_t kStage = 12;  // Of two bits.
    entry_.path = path_;
    entry_.ctime_ns = Moment(0);
    entry_.mtime_ns = Moment(8);
    entry_.inode = Number(bytes_, start_ + 20, 4);
    entry_.mode = Number(bytes_, start_ + 24, 4);
    entry_.size = Number(bytes_, start_ + 36, 4);
    std::memcpy(entry_.id.data(), bytes_.data() + start_ + kStatBytes, id_size_);
    entry_.stage = static_cast<std::uint8_t>(flags >> kStage & 3U);
    entry_.racy = std::max(entry_.mtime_ns, entry_.ctime_ns) >= time_ns_;
  }

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
    // Each path may repeat the one before it: a small index must not become a large one.
    constexpr std::size_t kMostOfFile = 16;
    path_bytes_ += path_.size();
    return path_bytes_ <= kMostOfFile * bytes_.size();
  }

  std::string_view bytes_;
  std::uint64_t time_ns_;
  std::size_t id_size_;
  std::uint32_t version_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t seen_ = 0;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  std::size_t path_bytes_ = 0;
  std::string path_;
  GitIndexEntry entry_;
  std::optional<std::string_view> link_;
};

bool InOrder(const GitIndexEntry& one, const GitIndexEntry& next) {
  return one.path < next.path || (one.path == next.path && one.stage < next.stage);
}

/// What a split index says of the file that it shares.
struct SplitLink {
  std::string shared;  // In hex; empty: none after all.
  EwahBits gone;
  EwahBits replaced;
};

std::optional<SplitLink> ReadLink(std::string_view bytes, std::size_t id_size) {
  if (bytes.size() < id_size) return std::nullopt;
  SplitLink link{.shared = HexOf(bytes.substr(0, id_size)), .gone = {}, .replaced = {}};
  if (link.shared.find_first_not_of('0') == std::string::npos) link.shared.clear();
  bytes.remove_prefix(id_size);
  if (bytes.empty()) return link;
  std::optional<EwahBits> gone = EwahBits::Take(bytes);
  std::optional<EwahBits> replaced = gone ? EwahBits::Take(bytes) : std::nullopt;
  if (!replaced || !bytes.empty()) return std::nullopt;
  link.gone = *std::move(gone);
  link.replaced = *std::move(replaced);
  return link;
}

std::unexpected<Error> NoIndex(std::string_view why) {
  return Fail(Code::kInvalid, "the index " + std::string(why));
}

struct OneFile {
  std::vector<GitIndexEntry> entries;
  std::optional<SplitLink> link;
};

Result<OneFile> ReadOne(const GitIndexFile& file, GitFormat format) {
  IndexReader reader(file, format);
  if (!reader.Begin()) return NoIndex("is none");
  OneFile one;
  while (reader.Next()) one.entries.push_back(std::move(reader.entry()));
  if (!reader.at_end()) return NoIndex("makes no sense");
  if (!reader.TakeExtensions()) return NoIndex("has an extension that is not known");
  if (!reader.link()) return one;
  one.link = ReadLink(*reader.link(), IdSize(format));
  if (!one.link) return NoIndex("shares in a way that makes no sense");
  return one;
}

/// The entries of both files. Those that replace come first, have no path, and are in the order of
/// what they replace.
Result<std::vector<GitIndexEntry>> Merge(OneFile own, std::vector<GitIndexEntry> shared) {
  const SplitLink& link = *own.link;
  std::vector<bool> gone(shared.size());
  std::size_t used = 0;
  bool good = true;
  good &= link.gone.ForEach(shared.size(), [&](std::size_t at) { gone[at] = true; });
  good &= link.replaced.ForEach(shared.size(), [&](std::size_t at) {
    if (used == own.entries.size() || !own.entries[used].path.empty()) {
      good = false;
      return;
    }
    std::swap(own.entries[used].path, shared[at].path);
    shared[at] = std::move(own.entries[used++]);
  });
  if (!good) return NoIndex("shares in a way that makes no sense");
  std::vector<GitIndexEntry> all;
  all.reserve(shared.size() + own.entries.size());
  for (std::size_t at = 0; at < shared.size(); ++at) {
    if (!gone[at]) all.push_back(std::move(shared[at]));
  }
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  std::move(own.entries.begin() + static_cast<std::ptrdiff_t>(used), own.entries.end(),
            std::back_inserter(all));
  std::inplace_merge(all.begin(), all.begin() + middle, all.end(), InOrder);
  return all;
}

Result<GitIndexFile> ReadIndexFile(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return FailPath("look at", path);
  ASSIGN_OR_RETURN(FileBytes file, ReadRegularFile(path, kMaxGitIndex));
  const auto nanos = [](const timespec& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kNanosInSecond +
           static_cast<std::uint64_t>(time.tv_nsec);
  };
  // The earlier of the two: the time of the last change of its bytes may have been set by hand.
  return GitIndexFile{.bytes = std::move(file.bytes),
                      .time_ns = std::min(nanos(facts.st_mtim), nanos(facts.st_ctim))};
}

}  // namespace

Result<GitIndex> GitIndex::Parse(const GitIndexFile& file, GitFormat format, const Shared& shared) {
  GitIndex index;
  ASSIGN_OR_RETURN(OneFile own, ReadOne(file, format));
  if (own.link && !own.link->shared.empty()) {
    index.shared_ = own.link->shared;
    ASSIGN_OR_RETURN(const GitIndexFile base, shared(index.shared_));
    ASSIGN_OR_RETURN(OneFile below, ReadOne(base, format));
    if (below.link) return NoIndex("shares what is shared again");
    ASSIGN_OR_RETURN(index.entries_, Merge(std::move(own), std::move(below.entries)));
  } else {
    index.entries_ = std::move(own.entries);
  }
  const auto& entries = index.entries_;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].path.empty()) return NoIndex("has an entry without a path");
    if (i > 0 && !InOrder(entries[i - 1], entries[i])) return NoIndex("is not in order");
  }
  return index;
}

Result<GitIndex> GitIndex::Read(const std::string& git, GitFormat format) {
  const std::string path = git + "/index";
  const Result<GitIndexFile> file = ReadIndexFile(path);
  if (!file && file.error().code == Code::kNotFound) return GitIndex();
  if (!file) return std::unexpected(file.error());
  return Parse(*file, format,
               [&](const std::string& id) { return ReadIndexFile(git + "/sharedindex." + id); });
}

const GitIndexEntry* GitIndex::Find(std::string_view path) const {
  const auto found = std::ranges::lower_bound(entries_, path, {}, &GitIndexEntry::path);
  if (found == entries_.end() || found->path != path || found->stage != 0) return nullptr;
  const auto next = found + 1;
  return next != entries_.end() && next->path == path ? nullptr : &*found;
}

Result<std::vector<std::string>> GitLinks(const std::string& index_file) {
  ASSIGN_OR_RETURN(FileBytes file, ReadRegularFile(index_file, kMaxLinkedIndex));
  const GitIndexFile index{.bytes = std::move(file.bytes), .time_ns = 0};
  // The file does not say which format its ids have.
  for (const GitFormat format : {GitFormat::kSha1, GitFormat::kSha256}) {
    std::vector<std::string> links;
    IndexReader reader(index, format);
    const bool good = reader.Begin();
    while (good && reader.Next()) {
      if (reader.entry().is_link()) links.push_back(reader.entry().path);
    }
    if (good && reader.at_end() && reader.TakeExtensions()) return links;
  }
  return Fail(Code::kInvalid, index_file + " makes no sense");
}

}  // namespace stet::tool
