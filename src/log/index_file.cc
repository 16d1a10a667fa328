#include "log/index_file.h"

#include <cerrno>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/plain_file.h"
#include "log/line.h"

namespace stet::log {
namespace {

constexpr std::uint64_t kMagic = 0x3178646974657473;  // "stetidx1"
constexpr std::uint32_t kGroupMagic = 0x50524753;     // "SGRP"
constexpr std::size_t kMaxIndexBytes = std::size_t{4} << 30;

struct FileStart {
  std::uint64_t magic = kMagic;
  std::uint64_t layout = 0;
  std::uint64_t first_line_hash = 0;
};

struct GroupStart {
  std::uint32_t magic = kGroupMagic;
  std::uint32_t entries = 0;
  std::uint32_t keys = 0;
  std::uint32_t damages = 0;
  std::uint32_t checkpoint_bytes = 0;
  std::uint32_t unused = 0;
  std::uint64_t crc = 0;  // Of all that follows in the group.

  [[nodiscard]] std::uint64_t body_bytes() const {
    return std::uint64_t{entries} * sizeof(Entry) + std::uint64_t{keys} * sizeof(Key) +
           std::uint64_t{damages} * sizeof(Damage) + checkpoint_bytes;
  }
};

struct Checkpoint {
  STET_FIELDS(Checkpoint,
              (std::int64_t, version),
              (std::uint64_t, seq),
              (std::uint64_t, leaf),  // kNone: before the first event.
              (std::string, crc),
              (std::uint64_t, max_seq),
              (std::uint64_t, lines),
              (std::uint64_t, bytes),
              (SessionState, state))
};

/// Changes whenever the numbers in an Entry would mean something else.
std::uint64_t Layout() {
  std::string names;
  for (std::size_t i = 0; i < std::variant_size_v<protocol::PayloadVariant>; ++i) {
    (names += protocol::TypeName(static_cast<std::uint8_t>(i))) += ',';
  }
  AppendJsonInt(names, kStateVersion);
  return FastHash(names);
}

template <class T>
void AppendBytes(std::string& out, std::span<const T> items) {
  out.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
}

template <class T>
std::string_view TakeItems(std::string_view body, std::uint32_t count, std::vector<T>& out) {
  const std::size_t before = out.size();
  out.resize(before + count);
  if (count > 0) std::memcpy(out.data() + before, body.data(), count * sizeof(T));
  return body.substr(count * sizeof(T));
}

std::string CrcOf(int log_fd, const Entry& entry) {
  std::string line(entry.length, '\0');
  if (!PreadExact(log_fd, line.data(), line.size(), entry.offset) || !CheckLine(line)) return "";
  return std::string(LineCrc(line));
}

/// Whether everything in the index points inside what exists.
bool Sound(const Folded& fold, const Checkpoint& checkpoint) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < fold.entries.size(); ++i) {
    const Entry& entry = fold.entries[i];
    if (entry.offset < end || entry.length > kMaxLineBytes ||
        (entry.parent != kNone && entry.parent >= i))
      return false;
    end = entry.offset + entry.length;
  }
  const auto inside = [&](Ordinal i) { return i == kNone || i < fold.entries.size(); };
  for (const Key& key : fold.keys) {
    if (key.event >= fold.entries.size()) return false;
  }
  for (const Damage& damage : fold.damages) {
    if (!inside(damage.bridge)) return false;
  }
  return end <= checkpoint.bytes && checkpoint.leaf <= kNone &&
         inside(static_cast<Ordinal>(checkpoint.leaf));
}

}  // namespace

std::optional<Index> IndexFile::Load(const std::string& path, int log_fd, std::uint64_t log_bytes,
                                     std::uint64_t first_line_hash, Kept* kept) {
  if (kept != nullptr) *kept = {};
  const Result<std::string> file = ReadPlainFile(path, kMaxIndexBytes);
  FileStart start;
  if (!file || file->size() < sizeof start) return std::nullopt;
  std::memcpy(&start, file->data(), sizeof start);
  if (start.magic != kMagic || start.layout != Layout() || start.first_line_hash != first_line_hash)
    return std::nullopt;

  Folded fold;
  std::string_view checkpoint_text;
  fold.entries.reserve(file->size() / sizeof(Entry));
  std::string_view rest = std::string_view(*file).substr(sizeof start);
  GroupStart group;
  while (rest.size() >= sizeof group) {
    std::memcpy(&group, rest.data(), sizeof group);
    const std::string_view body = rest.substr(sizeof group);
    if (group.magic != kGroupMagic || group.body_bytes() > body.size()) break;
    if (FastHash(body.substr(0, group.body_bytes())) != group.crc) break;
    fold.damages.clear();
    std::string_view at = TakeItems(body, group.entries, fold.entries);
    at = TakeItems(at, group.keys, fold.keys);
    at = TakeItems(at, group.damages, fold.damages);
    checkpoint_text = at.substr(0, group.checkpoint_bytes);
    rest = body.substr(group.body_bytes());
  }
  Result<Checkpoint> checkpoint = Decode<Checkpoint>(checkpoint_text);
  if (!checkpoint || checkpoint->version != kStateVersion || checkpoint->bytes > log_bytes)
    return std::nullopt;
  if (!Sound(fold, *checkpoint)) return std::nullopt;
  if (!fold.entries.empty() && (fold.entries.back().seq != checkpoint->seq ||
                                CrcOf(log_fd, fold.entries.back()) != checkpoint->crc)) {
    return std::nullopt;
  }
  if (kept != nullptr) *kept = {file->size() - rest.size(), fold.entries.size(), fold.keys.size()};
  fold.state = std::move(checkpoint->state);
  fold.leaf = static_cast<Ordinal>(checkpoint->leaf);
  fold.max_seq = checkpoint->max_seq;
  fold.lines = checkpoint->lines;
  fold.bytes = checkpoint->bytes;
  return Index(std::move(fold));
}

Result<IndexFile> IndexFile::Open(const std::string& path, std::uint64_t first_line_hash,
                                  const Kept& kept) {
  ASSIGN_OR_RETURN(Fd fd, OpenPlainFile(path, O_RDWR | O_CREAT));
  IndexFile file(std::move(fd));
  if (::ftruncate(file.fd_.get(), static_cast<off_t>(kept.bytes)) != 0)
    return FailSystem(errno, "truncate " + path);
  file.bytes_ = kept.bytes;
  if (kept.bytes > 0) {
    // Not what the index holds by now: the tail that was scanned behind it is still to be written.
    file.entries_ = kept.entries;
    file.keys_ = kept.keys;
    return file;
  }
  const FileStart start{.layout = Layout(), .first_line_hash = first_line_hash};
  if (::pwrite(file.fd_.get(), &start, sizeof start, 0) != sizeof start)
    return FailSystem(errno, "write " + path);
  file.bytes_ = sizeof start;
  return file;
}

Status IndexFile::Append(const Index& index, int log_fd) {
  const std::span new_entries = std::span(index.entries()).subspan(entries_);
  const std::span new_keys = std::span(index.keys()).subspan(keys_);
  Checkpoint checkpoint;
  checkpoint.version = kStateVersion;
  if (!index.entries().empty()) {
    checkpoint.seq = index.entries().back().seq;
    checkpoint.crc = CrcOf(log_fd, index.entries().back());
  }
  checkpoint.leaf = index.leaf();
  checkpoint.max_seq = index.max_seq();
  checkpoint.lines = index.lines();
  checkpoint.bytes = index.bytes();
  checkpoint.state = index.state();

  std::string out(sizeof(GroupStart), '\0');
  AppendBytes(out, new_entries);
  AppendBytes(out, new_keys);
  AppendBytes(out, std::span(index.damages()));
  const std::string checkpoint_text = Encode(checkpoint);
  out += checkpoint_text;
  const GroupStart group{.entries = static_cast<std::uint32_t>(new_entries.size()),
                         .keys = static_cast<std::uint32_t>(new_keys.size()),
                         .damages = static_cast<std::uint32_t>(index.damages().size()),
                         .checkpoint_bytes = static_cast<std::uint32_t>(checkpoint_text.size()),
                         .crc = FastHash(std::string_view(out).substr(sizeof(GroupStart)))};
  std::memcpy(out.data(), &group, sizeof group);
  // A torn group is found by its crc, and the next one is written over it.
  if (::pwrite(fd_.get(), out.data(), out.size(), static_cast<off_t>(bytes_)) !=
      static_cast<ssize_t>(out.size())) {
    return FailSystem(errno, "write the index");
  }
  bytes_ += out.size();
  entries_ = index.entries().size();
  keys_ = index.keys().size();
  return {};
}

}  // namespace stet::log
