#include "json/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <charconv>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <fmt/format.h>

#include "base/utf8.h"

namespace stet {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighs = 0x8080808080808080;

/// Non-zero when any of the eight bytes is a quote, a backslash or a control character; the lowest
/// bit that is set belongs to the first of them.
std::uint64_t SpecialBits(std::uint64_t bytes) {
  const auto has_zero = [](std::uint64_t v) { return (v - kOnes) & ~v & kHighs; };
  const std::uint64_t control = (bytes - kOnes * 0x20) & ~bytes & kHighs;
  return control | has_zero(bytes ^ (kOnes * '"')) | has_zero(bytes ^ (kOnes * '\\'));
}

/// The first byte in [at, end) that a JSON string cannot hold as it is: quote, backslash or
/// control. Inlined by force: most strings are a few bytes, and the call would cost as much.
[[gnu::always_inline]] inline const char* FindSpecial(const char* at, const char* end) {
  static_assert(std::endian::native == std::endian::little);
#ifdef __SSE2__
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // The larger of byte and 0x1F is 0x1F: a control character.
    const __m128i last = _mm_set1_epi8(0x1F);
    const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last), last);
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const auto found = static_cast<unsigned>(
        _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash))));
    if (found != 0) return at + std::countr_zero(found);
  }
#endif
  for (; end - at >= 8; at += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    if (const std::uint64_t found = SpecialBits(bytes); found != 0)
      return at + std::countr_zero(found) / 8;
  }
  while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

/// Copies [at, end) to `to` as far as the first backslash, and returns where that is. `to` has room
/// for all of it.
const char* CopyToEscape(const char* at, const char* end, char* to) {
#ifdef __SSE2__
  for (; end - at >= 16; at += 16, to += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    const auto found =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    if (found != 0) return at + std::countr_zero(found);
  }
#endif
  while (at < end && *at != '\\') *to++ = *at++;
  return at;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The four hex digits at `at`, which the scan has already checked.
char32_t HexUnit(const char* at) {
  char32_t unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit * 16 + static_cast<char32_t>(HexDigit(at[i]));
  return unit;
}

/// Appends the character whose \u escape has its digits at `at`, together with the escape behind it
/// when the two are a surrogate pair. Returns where the text goes on.
const char* AppendUnit(const char* at, const char* end, std::string& out) {
  constexpr std::ptrdiff_t kEscapeBytes = 6;
  char32_t point = HexUnit(at);
  at += 4;
  const bool high = point >= 0xD800 && point < 0xDC00;
  if (high && end - at >= kEscapeBytes && at[0] == '\\' && at[1] == 'u') {
    const char32_t low = HexUnit(at + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      at += kEscapeBytes;
    }
  }
  AppendUtf8(out, point >= 0xD800 && point < 0xE000 ? 0xFFFD : point);
  return at;
}

bool IsShortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return true;
    default: return false;
  }
}

constexpr auto kKindByFirst = [] {
  using Kind = JsonReader::Kind;
  std::array<Kind, 256> kinds;
  kinds.fill(Kind::kBad);
  for (unsigned char digit = '0'; digit <= '9'; ++digit) kinds[digit] = Kind::kNumber;
  kinds['-'] = Kind::kNumber;
  kinds['{'] = Kind::kObject;
  kinds['['] = Kind::kArray;
  kinds['"'] = Kind::kString;
  kinds['t'] = kinds['f'] = Kind::kBool;
  kinds['n'] = Kind::kNull;
  return kinds;
}();

bool IsDigit(const char* at, const char* end) { return at < end && *at >= '0' && *at <= '9'; }

}  // namespace

Result<Raw> Raw::From(std::string_view text) {
  if (!IsValidUtf8(text)) return Fail(Code::kInvalid, "the JSON value is not valid UTF-8");
  JsonReader reader(text);
  std::string_view value;
  if (!reader.Skip(&value) || !reader.AtEnd()) return std::unexpected(reader.error());
  Raw raw{std::string(value)};
  for (char& c : raw.text) {
    if (c == '\n' || c == '\r') c = ' ';  // Strings hold none, so this one is between tokens.
  }
  return raw;
}

bool JsonReader::Refuse(const char* problem) {
  if (problem_ == nullptr) problem_ = problem;
  return false;
}

Error JsonReader::error() const {
  return Error(Code::kInvalid, fmt::format("bad JSON at byte {}: {}", at_ - begin_,
                                           problem_ ? problem_ : "more after the value"));
}

void JsonReader::SkipSpaces() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
}

JsonReader::Kind JsonReader::KindByFirst(char first) {
  return kKindByFirst[static_cast<unsigned char>(first)];
}

JsonReader::Kind JsonReader::Peek() {
  SkipSpace();
  if (!ok()) return Kind::kBad;
  return at_ == end_ ? Kind::kEnd : KindByFirst(*at_);
}

bool JsonReader::EnterObject() {
  if (Peek() != Kind::kObject) return Refuse("an object is expected");
  ++at_;
  first_ = true;
  return true;
}

// To the next item of the container that `close` ends; false at its end, which is then behind us.
bool JsonReader::NextItem(char close) {
  SkipSpace();
  if (!ok()) return false;
  if (at_ == end_) return Refuse("the object or array does not end");
  const bool first = std::exchange(first_, false);
  if (*at_ == close) {
    ++at_;
    return false;
  }
  if (first) return true;
  if (*at_ != ',') return Refuse("a comma is expected");
  ++at_;
  return true;
}

bool JsonReader::NextMember(std::string_view* key) {
  if (!NextItem('}')) return false;
  if (!ScanKey()) return false;
  raw_key_ = raw_string_;
  if (has_escape_) {
    if (!Unescape(raw_key_, &key_buffer_)) return false;
    *key = key_buffer_;
  } else {
    *key = raw_key_;
  }
  return true;
}

bool JsonReader::EnterArray() {
  if (Peek() != Kind::kArray) return Refuse("an array is expected");
  ++at_;
  first_ = true;
  return true;
}

bool JsonReader::NextElement() { return NextItem(']'); }

bool JsonReader::ScanString() {
  if (at_ == end_ || *at_ != '"') return Refuse("a string is expected");
  const char* start = ++at_;
  has_escape_ = false;
  while (true) {
    at_ = FindSpecial(at_, end_);
    if (at_ == end_) return Refuse("the string does not end");
    if (*at_ == '"') break;
    if (*at_ != '\\') return Refuse("a control character stands in a string");
    has_escape_ = true;
    if (end_ - at_ < 2) return Refuse("the string does not end");
    if (at_[1] == 'u') {
      if (end_ - at_ < 6) return Refuse("the string does not end");
      for (int i = 2; i < 6; ++i) {
        if (HexDigit(at_[i]) < 0) return Refuse("\\u needs four hex digits");
      }
      at_ += 6;
    } else {
      if (!IsShortEscape(at_[1])) return Refuse("unknown escape");
      at_ += 2;
    }
  }
  raw_string_ = {start, static_cast<std::size_t>(at_ - start)};
  ++at_;
  return true;
}

bool JsonReader::ScanKey() {
  SkipSpace();
  if (!ScanString()) return false;
  SkipSpace();
  if (at_ == end_ || *at_ != ':') return Refuse("a colon is expected");
  ++at_;
  return true;
}

bool JsonReader::ScanNumber() {
  if (at_ < end_ && *at_ == '-') ++at_;
  if (!IsDigit(at_, end_)) return Refuse("a digit is expected");
  if (*at_ == '0') {
    ++at_;
  } else {
    while (IsDigit(at_, end_)) ++at_;
  }
  if (at_ < end_ && *at_ == '.') {
    ++at_;
    if (!IsDigit(at_, end_)) return Refuse("a digit is expected");
    while (IsDigit(at_, end_)) ++at_;
  }
  if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!IsDigit(at_, end_)) return Refuse("a digit is expected");
    while (IsDigit(at_, end_)) ++at_;
  }
  return true;
}

bool JsonReader::ScanLiteral(std::string_view literal) {
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, literal.size()) !=
      literal) {
    return Refuse("unknown word");
  }
  at_ += literal.size();
  return true;
}

bool JsonReader::ScanScalar(Kind kind) {
  switch (kind) {
    case Kind::kString: return ScanString();
    case Kind::kNumber: return ScanNumber();
    case Kind::kBool: return ScanLiteral(*at_ == 't' ? "true" : "false");
    case Kind::kNull: return ScanLiteral("null");
    case Kind::kEnd: return Refuse("a value is expected, the text ends");
    default: return Refuse("a value is expected");
  }
}

// One loop with a bit per open container: set for an object.
bool JsonReader::Skip(std::string_view* raw) {
  SkipSpace();
  const char* start = at_;
  std::bitset<kMaxDepth> is_object;
  std::size_t depth = 0;
  do {
    const Kind kind = Peek();
    if (kind == Kind::kObject || kind == Kind::kArray) {
      if (depth == kMaxDepth) return Refuse("nested too deeply");
      is_object[depth++] = kind == Kind::kObject;
      ++at_;
      SkipSpace();
      if (at_ < end_ && *at_ != '}' && *at_ != ']') {
        if (kind == Kind::kObject && !ScanKey()) return false;
        continue;
      }
    } else if (!ScanScalar(kind)) {
      return false;
    }
    // A value (or an empty container's opening) lies behind us: close what closes, then expect a
    // comma.
    while (depth > 0) {
      SkipSpace();
      if (at_ == end_) return Refuse("the text ends inside a value");
      const bool in_object = is_object[depth - 1];
      if (*at_ == (in_object ? '}' : ']')) {
        ++at_;
        --depth;
        continue;
      }
      if (*at_ != ',') return Refuse("a comma or an end is expected");
      ++at_;
      if (in_object && !ScanKey()) return false;
      break;
    }
  } while (depth > 0);
  if (raw != nullptr) *raw = {start, static_cast<std::size_t>(at_ - start)};
  return true;
}

// What is unescaped is never longer than it was, so it is written into place.
bool JsonReader::Unescape(std::string_view raw, std::string* out) {
  out->resize(raw.size());
  const char* at = raw.data();
  const char* end = at + raw.size();
  char* to = out->data();
  while (at < end) {
    const char* escape = CopyToEscape(at, end, to);
    to += escape - at;
    if (escape == end) break;
    at = escape + 2;
    switch (escape[1]) {
      case 'b': *to++ = '\b'; break;
      case 'f': *to++ = '\f'; break;
      case 'n': *to++ = '\n'; break;
      case 'r': *to++ = '\r'; break;
      case 't': *to++ = '\t'; break;
      case 'u': {
        std::string unit;
        at = AppendUnit(at, end, unit);
        to = std::ranges::copy(unit, to).out;
        break;
      }
      default: *to++ = escape[1];
    }
  }
  out->resize(static_cast<std::size_t>(to - out->data()));
  return true;
}

bool JsonReader::String(std::string* out) {
  if (Peek() != Kind::kString) return Refuse("a string is expected");
  if (!ScanString()) return false;
  if (has_escape_) return Unescape(raw_string_, out);
  out->assign(raw_string_);
  return true;
}

template <class Integer>
bool JsonReader::ReadInteger(Integer* out) {
  if (Peek() != Kind::kNumber) return Refuse("a number is expected");
  const char* start = at_;
  if (!ScanNumber()) return false;
  const auto [stop, error] = std::from_chars(start, at_, *out);
  if (error != std::errc() || stop != at_) return Refuse("an integer in range is expected");
  return true;
}

bool JsonReader::Int(std::int64_t* out) { return ReadInteger(out); }
bool JsonReader::UInt(std::uint64_t* out) { return ReadInteger(out); }

bool JsonReader::Bool(bool* out) {
  if (Peek() != Kind::kBool) return Refuse("true or false is expected");
  *out = *at_ == 't';
  return ScanLiteral(*out ? "true" : "false");
}

bool JsonReader::Null() {
  if (Peek() != Kind::kNull) return Refuse("null is expected");
  return ScanLiteral("null");
}

bool JsonReader::AtEnd() {
  SkipSpace();
  return ok() && at_ == end_;
}

std::optional<std::string> RepeatedMember(std::string_view text) {
  JsonReader reader(text);
  std::vector<std::optional<std::set<std::string>>> open;  // The names so far; nothing: an array.
  const auto enter = [&] {
    const JsonReader::Kind kind = reader.Peek();
    if (kind == JsonReader::Kind::kObject && reader.EnterObject())
      open.emplace_back(std::in_place);
    else if (kind == JsonReader::Kind::kArray && reader.EnterArray())
      open.emplace_back(std::nullopt);
    else
      reader.Skip();
  };
  enter();
  while (!open.empty() && reader.ok()) {
    std::string_view name;
    if (open.back() ? !reader.NextMember(&name) : !reader.NextElement()) {
      open.pop_back();
      continue;
    }
    if (open.back() && !open.back()->emplace(name).second) return std::string(name);
    enter();
  }
  return std::nullopt;
}

Status CheckJson(std::string_view text) {
  JsonReader reader(text);
  if (!reader.Skip() || !reader.AtEnd()) return std::unexpected(reader.error());
  return {};
}

static void AppendEscaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    const char* special = FindSpecial(at, end);
    out.append(at, special);
    if (special == end) return;
    switch (*special) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        constexpr std::string_view kHex = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(*special);
        out += "\\u00";
        out += kHex[byte >> 4U];
        out += kHex[byte & 15U];
      }
    }
    at = special + 1;
  }
}

/// Whether it is short and goes in as it is: keys and names are.
static bool IsShortAndPlain(std::string_view text) {
  constexpr std::size_t kShort = 32;
  if (text.size() > kShort) return false;
  bool plain = true;
  for (const char c : text) plain &= c >= ' ' && c <= '~' && c != '"' && c != '\\';
  return plain;
}

void AppendJsonString(std::string& out, std::string_view text) {
  if (IsShortAndPlain(text)) {
    const std::size_t at = out.size();
    out.resize(at + text.size() + 2, '"');
    std::ranges::copy(text, out.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return;
  }
  out += '"';
  if (IsValidUtf8(text)) {
    AppendEscaped(out, text);
  } else {
    AppendEscaped(out, ReplaceInvalidUtf8(text));
  }
  out += '"';
}

template <class Integer>
static void AppendInteger(std::string& out, Integer value) {
  std::array<char, 24> digits;
  const auto [stop, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), stop);
}

void AppendJsonInt(std::string& out, std::int64_t value) { AppendInteger(out, value); }
void AppendJsonUInt(std::string& out, std::uint64_t value) { AppendInteger(out, value); }

}  // namespace stet
