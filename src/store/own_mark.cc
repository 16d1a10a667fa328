#include "store/own_mark.h"

#include "base/fs.h"
#include "base/plain_file.h"
#include "base/seal.h"
#include "json/describe.h"
#include "json/writer.h"

namespace stet::store {
namespace {

constexpr std::size_t kMaxMark = 1024;

struct Mark {
  STET_FIELDS(Mark, (std::int64_t, since), (std::string, mac))
};

std::string MarkMac(const log::Paths& paths, std::int64_t since, const std::string& key) {
  std::string text;
  JsonWriter(text).BeginArray().String("own").String(paths.session_id()).Int(since).EndArray();
  return MacHex(text, key);
}

}  // namespace

std::optional<std::uint64_t> OwnSince(const log::Paths& paths, const std::string& key) {
  const Result<std::string> text = ReadPlainFile(paths.own(), kMaxMark);
  const Result<Mark> mark = text ? Decode<Mark>(*text) : std::unexpected(text.error());
  if (!mark || mark->since < 1 || !SameBytes(mark->mac, MarkMac(paths, mark->since, key)))
    return std::nullopt;
  return static_cast<std::uint64_t>(mark->since);
}

Status MarkOwn(const log::Paths& paths, std::uint64_t since, const std::string& key) {
  Mark mark;
  mark.since = static_cast<std::int64_t>(since);
  mark.mac = MarkMac(paths, mark.since, key);
  return ReplaceFile(paths.own(), Encode(mark) + "\n", Durable::kNo);
}

Status MarkCopy(const log::Paths& origin, const log::Paths& copy, const std::string& key) {
  return OwnSince(origin, key) == 1 ? MarkOwn(copy, 1, key) : Status();
}

}  // namespace stet::store
