#include "log/line.h"

#include <charconv>
#include <cstring>

#include "base/hash.h"
#include "base/result.h"
#include "json/json.h"

namespace stet::log {
namespace {

constexpr std::string_view kCrcStart = ",\"crc\":\"";
constexpr std::size_t kCrcDigits = 16;
constexpr std::string_view kCrcEnd = "\"}";
constexpr std::size_t kSealBytes = kCrcStart.size() + kCrcDigits + kCrcEnd.size();

/// How many starts SplitDamaged tries for one crc: content may hold text that looks like a start.
constexpr std::size_t kMaxStarts = 32;

/// Walks over the members of a line without checking what it need not: the crc vouches for it.
class Walker {
 public:
  explicit Walker(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool Skip(std::string_view literal) {
    if (static_cast<std::size_t>(end_ - at_) < literal.size()) return false;
    if (std::memcmp(at_, literal.data(), literal.size()) != 0) return false;
    at_ += literal.size();
    return true;
  }

  /// A string's inside, from its opening quote.
  bool String(std::string_view* out) {
    if (!Skip("\"")) return false;
    const char* start = at_;
    while (at_ < end_ && *at_ != '"') at_ += *at_ == '\\' ? 2 : 1;
    if (at_ >= end_) return false;
    *out = {start, static_cast<std::size_t>(at_ - start)};
    ++at_;
    return true;
  }

  template <class Integer>
  bool Int(Integer* out) {
    const auto [stop, error] = std::from_chars(at_, end_, *out);
    if (error != std::errc()) return false;
    at_ = stop;
    return true;
  }

  bool Bool(bool* out) {
    *out = Skip("true");
    return *out || Skip("false");
  }

 private:
  const char* at_;
  const char* end_;
};

/// One of the members that the index knows; false at the first that it does not.
bool ReadMember(Walker& walker, Prefix& prefix) {
  std::string_view key;
  std::string_view ignored;
  if (!walker.Skip(",") || !walker.String(&key) || !walker.Skip(":")) return false;
  if (key == "ts") return walker.Int(&prefix.ts);
  if (key == "role") return walker.String(&prefix.role);
  if (key == "clientId" || key == "turnId" || key == "stepId" || key == "runId" ||
      key == "agentId" || key == "toolCallId") {
    return walker.String(&ignored);
  }
  if (key == "calls") return walker.Int(&prefix.calls);
  if (key == "callIndex") return walker.Int(&prefix.call_index);
  if (key == "clientMessageId") return walker.String(&prefix.client_message_id);
  if (key == "queueItemId") return walker.String(&prefix.queue_item_id);
  if (key == "owedId") return walker.String(&prefix.owed_id);
  if (key == "carries") prefix.carries = true;
  if (key == "op") return walker.String(&prefix.op);
  if (key == "critical") return walker.Bool(&prefix.critical);
  return false;
}

/// Positions in `bytes` before `end` where an event or a header may start, nearest to `end` first.
std::vector<std::size_t> Starts(std::string_view bytes, std::size_t from, std::size_t end) {
  std::vector<std::size_t> starts{from};
  std::size_t at = end;
  while (at > from && starts.size() < kMaxStarts) {
    const std::size_t event = bytes.rfind("{\"seq\":", at - 1);
    if (event == std::string_view::npos || event <= from) break;
    starts.push_back(event);
    at = event;
  }
  return starts;
}

}  // namespace

void SealLine(std::string& out, std::size_t start) {
  out.pop_back();
  const std::uint64_t crc = FastHash(std::string_view(out).substr(start));
  out += kCrcStart;
  AppendHex64(out, crc);
  out += kCrcEnd;
  out += '\n';
}

bool CheckLine(std::string_view line) {
  if (line.size() < kSealBytes + 1 || line.front() != '{') return false;
  const std::string_view body = line.substr(0, line.size() - kSealBytes);
  const std::string_view seal = line.substr(body.size());
  if (!seal.starts_with(kCrcStart) || !seal.ends_with(kCrcEnd)) return false;
  std::string expected;
  AppendHex64(expected, FastHash(body));
  return seal.substr(kCrcStart.size(), kCrcDigits) == expected;
}

std::string Unsealed(std::string_view line) {
  return std::string(line.substr(0, line.size() - kSealBytes)) + "}";
}

std::string_view LineCrc(std::string_view line) {
  return line.substr(line.size() - kCrcDigits - kCrcEnd.size(), kCrcDigits);
}

std::optional<Prefix> ReadPrefix(std::string_view line) {
  Walker walker(line);
  Prefix prefix;
  if (!walker.Skip("{\"seq\":") || !walker.Int(&prefix.seq)) return std::nullopt;
  if (!walker.Skip(",\"id\":") || !walker.String(&prefix.id)) return std::nullopt;
  if (!walker.Skip(",\"parentId\":")) return std::nullopt;
  if (!walker.Skip("null") && !walker.String(&prefix.parent_id.emplace())) return std::nullopt;
  if (!walker.Skip(",\"type\":") || !walker.String(&prefix.type)) return std::nullopt;
  while (ReadMember(walker, prefix)) {
  }
  return prefix;
}

void AppendReseated(std::string& out, std::string_view line, std::uint64_t seq,
                    std::optional<std::string_view> parent_id) {
  constexpr std::string_view kTypeStart = ",\"type\":\"";
  const std::optional<Prefix> prefix = ReadPrefix(line);
  CHECK(prefix.has_value(), "only an event's line is reseated");
  const std::size_t start = out.size();
  out += "{\"seq\":";
  AppendJsonUInt(out, seq);
  ((out += ",\"id\":\"") += prefix->id) += "\",\"parentId\":";
  if (parent_id)
    ((out += '"') += *parent_id) += '"';
  else
    out += "null";
  const std::size_t rest =
      static_cast<std::size_t>(prefix->type.data() - line.data()) - kTypeStart.size();
  out += line.substr(rest, line.size() - kSealBytes - rest);
  out += '}';
  SealLine(out, start);
}

std::string EscapedText(std::string_view text) {
  std::string quoted;
  AppendJsonString(quoted, text);
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<Piece> SplitDamaged(std::string_view bytes) {
  std::vector<Piece> pieces;
  std::size_t done = 0;  // Everything before is in `pieces`.
  std::size_t search = 0;
  while (true) {
    const std::size_t crc = bytes.find(kCrcStart, search);
    if (crc == std::string_view::npos || crc + kSealBytes > bytes.size()) break;
    const std::size_t end = crc + kSealBytes;
    search = crc + 1;
    for (const std::size_t start : Starts(bytes, done, crc)) {
      if (!CheckLine(bytes.substr(start, end - start))) continue;
      if (start > done) pieces.push_back({done, start - done, false});
      pieces.push_back({start, end - start, true});
      done = end;
      // The one byte that stands where the LF was belongs to neither line: it is damage.
      if (done < bytes.size() && bytes.substr(done + 1).starts_with("{\"seq\":")) {
        pieces.push_back({done, 1, false});
        ++done;
      }
      search = done;
      break;
    }
  }
  if (done < bytes.size()) pieces.push_back({done, bytes.size() - done, false});
  return pieces;
}

}  // namespace stet::log
