// JSON as text: a pull parser that hands out exact slices, and the few functions that write it.
//
// The reader checks the whole grammar of whatever it passes over, so a skipped value is a valid
// one, and gives the value's own bytes: 17-digit doubles, 1e400, 2^64, -0, duplicate keys and odd
// escapes survive because nothing ever interprets them. Numbers that we do interpret are integers.
// It never allocates but for strings it hands out, never recurses, and refuses nesting deeper than
// kMaxDepth. UTF-8 is the caller's check (base/utf8.h), once per text.
//
// A reader is a value over text that must outlive it: copy it to look ahead. After an error every
// call fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet {

/// One JSON value as its exact text, on one line.
struct Raw {
  std::string text = "null";

  /// Checks that `text` is one JSON value in valid UTF-8. Line breaks between tokens become spaces,
  /// because a log line cannot hold them; every other byte stays.
  static Result<Raw> From(std::string_view text);

  friend bool operator==(const Raw&, const Raw&) = default;
};

class JsonReader {
 public:
  static constexpr std::size_t kMaxDepth = 512;

  enum class Kind { kObject, kArray, kString, kNumber, kBool, kNull, kEnd, kBad };

  explicit JsonReader(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  /// What a value is, by its first character.
  static Kind KindByFirst(char first);

  /// What the next value is, by its first character; moves over white space only.
  Kind Peek();

  bool EnterObject();
  /// Moves to the next member and gives its key, unescaped and valid until the next call. False at
  /// the end of the object (which is then left) and on an error: ask ok().
  bool NextMember(std::string_view* key);
  /// The last key as it stands in the text, between its quotes.
  [[nodiscard]] std::string_view raw_key() const { return raw_key_; }

  bool EnterArray();
  /// True when there is another element to read. False at the end of the array (left then) and on
  /// an error.
  bool NextElement();

  /// Lone surrogates become U+FFFD: the result is valid UTF-8 when the text is.
  bool String(std::string* out);
  bool Int(std::int64_t* out);
  bool UInt(std::uint64_t* out);
  bool Bool(bool* out);
  bool Null();
  /// Passes one value of any kind, checking it; `raw`, if given, gets its exact text without white
  /// space around it.
  bool Skip(std::string_view* raw = nullptr);

  /// True when only white space is left and nothing failed.
  bool AtEnd();

  [[nodiscard]] bool ok() const { return problem_ == nullptr; }
  /// What is wrong and at which byte; only after a failure.
  [[nodiscard]] Error error() const;
  /// Fails the reader for a reason that the caller found.
  bool Refuse(const char* problem);

 private:
  void SkipSpace() {
    if (at_ < end_ && *at_ <= ' ') SkipSpaces();  // Seldom: what servers and we write has none.
  }
  void SkipSpaces();
  bool NextItem(char close);
  bool ScanString();  // From the opening quote; leaves raw_string_ and has_escape_.
  bool ScanNumber();
  bool ScanLiteral(std::string_view literal);
  bool ScanScalar(Kind kind);  // What Peek gave.
  bool ScanKey();
  bool Unescape(std::string_view raw, std::string* out);
  template <class Integer>
  bool ReadInteger(Integer* out);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* problem_ = nullptr;
  bool first_ = false;  // Just entered an object or array: no comma before the next item.
  bool has_escape_ = false;
  std::string_view raw_string_;
  std::string_view raw_key_;
  std::string key_buffer_;
};

/// Whether `text` is exactly one JSON value. Does not look at UTF-8.
Status CheckJson(std::string_view text);

/// The first name that stands twice in one object of the text, at any depth and whatever its
/// escapes: readers differ in which of the two they take. Nothing when there is none.
std::optional<std::string> RepeatedMember(std::string_view text);

/// Appends `text` as a JSON string. Invalid UTF-8 becomes U+FFFD: what we write can always be read.
void AppendJsonString(std::string& out, std::string_view text);
void AppendJsonInt(std::string& out, std::int64_t value);
void AppendJsonUInt(std::string& out, std::uint64_t value);

}  // namespace stet
