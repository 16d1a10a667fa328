#include "client/cache.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/utf8.h"

namespace stet::client {
namespace {

using protocol::Event;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kNameLetters = 24;
constexpr std::size_t kHeaderRoom = std::size_t{64} << 10;

/// The first line; the events follow, one a line.
struct Header {
  STET_FIELDS(Header,
              (std::int64_t, version),
              (std::string, device_id),
              (std::string, session_id),
              (std::string, hash))  // Of the header without it, and of all that follows.
};

std::string HashOf(Header header, std::string_view lines) {
  header.hash.clear();
  return FastHashHex(Encode(header) + std::string(lines));
}

/// As much of the end as fits.
std::string EncodeEnd(const std::vector<const Event*>& events) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    std::string line;
    protocol::EncodeEvent(**event, line);
    bytes += line.size() + 1;
    if (bytes > Cache::kMaxBytes || lines.size() == Cache::kMaxEvents) break;
    lines.push_back(std::move(line));
  }
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) (out += *line) += '\n';
  return out;
}

/// Nothing when something of it is wrong.
std::vector<Event> DecodeAll(std::string_view text) {
  std::vector<Event> events;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || events.size() == Cache::kMaxEvents) return {};
    Result<Event> event = protocol::DecodeEvent(text.substr(0, end));
    if (!event) return {};
    events.push_back(*std::move(event));
    text.remove_prefix(end + 1);
  }
  return events;
}

}  // namespace

std::string Cache::PathOf(const std::string& device_id, const std::string& session_id) const {
  const std::string name = Sha256Hex(device_id + '\0' + session_id).substr(0, kNameLetters);
  return fmt::format("{}/{}.jsonl", folder_, name);
}

std::vector<Event> Cache::Load(const std::string& device_id, const std::string& session_id) const {
  const Result<std::string> bytes =
      ReadFile(PathOf(device_id, session_id), kMaxBytes + kHeaderRoom);
  if (!bytes || !IsValidUtf8(*bytes)) return {};
  const std::string_view text = *bytes;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const Result<Header> header = Decode<Header>(text.substr(0, end));
  if (!header || header->version != kVersion || header->device_id != device_id ||
      header->session_id != session_id || header->hash != HashOf(*header, text.substr(end + 1)))
    return {};
  return DecodeAll(text.substr(end + 1));
}

Status Cache::Store(const std::string& device_id, const std::string& session_id,
                    const std::vector<const Event*>& path) const {
  const std::string lines = EncodeEnd(path);
  Header header;
  header.version = kVersion;
  header.device_id = device_id;
  header.session_id = session_id;
  header.hash = HashOf(header, lines);
  const std::string file = PathOf(device_id, session_id);
  RETURN_IF_ERROR(MakeDirs(folder_));
  RETURN_IF_ERROR(ReplaceFile(file, Encode(header) + '\n' + lines, Durable::kNo));
  return Prune(file);
}

void Cache::Forget(const std::string& device_id, const std::string& session_id) const {
  // Ignoring the error on purpose: most often there is nothing.
  (void)Remove(PathOf(device_id, session_id));
}

Status Cache::Prune(const std::string& newest) const {
  struct Kept {
    std::uint64_t mtime_ns = 0;
    std::uint64_t size = 0;
    std::string path;
  };
  std::vector<Kept> files;
  std::uint64_t total = 0;
  ASSIGN_OR_RETURN(const std::vector<DirEntry> entries, ListDir(folder_));
  for (const DirEntry& entry : entries) {
    const std::string path = fmt::format("{}/{}", folder_, entry.name);
    const Result<FileStat> stat = StatFile(path);
    if (!stat || !stat->is_file) continue;  // Gone meanwhile, or none of ours.
    total += stat->size;
    if (path != newest) files.push_back({stat->mtime_ns, stat->size, path});
  }
  std::ranges::sort(files, {}, &Kept::mtime_ns);
  for (const Kept& file : files) {
    if (total <= max_total_) break;
    const Status removed = Remove(file.path);
    if (!removed && removed.error().code != Code::kNotFound) return removed;
    total -= file.size;
  }
  return {};
}

}  // namespace stet::client
