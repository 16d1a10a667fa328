// KeyReader: from the bytes that a terminal sends to the keys that were pressed.
//
// Bytes may come in any pieces. Whatever is sent, memory is bounded: a paste beyond kMaxPaste is
// cut, an unknown sequence is left out. Nothing here fails. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace stet::tui {

struct Key {
  enum class Kind {
    kText,   // One character, in `text`.
    kPaste,  // All of `text`, with "\n" between lines.
    kCtrl,   // The small letter in `text`.
    kEnter,
    kNewLine,  // Enter with Alt or Shift.
    kTab,
    kBackspace,
    kDelete,
    kLeft,
    kRight,
    kUp,
    kDown,
    kHome,
    kEnd,
    kWordLeft,
    kWordRight,
    kEraseWordLeft,
    kEraseWordRight,
    kEscape,
  };
  Kind kind = Kind::kText;
  std::string text = {};

  friend bool operator==(const Key&, const Key&) = default;
};

class KeyReader {
 public:
  static constexpr std::size_t kMaxPaste = std::size_t{1} << 20;

  void Feed(std::string_view bytes);
  /// The next key; nothing while its bytes are not all there.
  std::optional<Key> Next();

  /// An Escape that may be a key, or the beginning of one: when nothing follows within a moment, it
  /// was the key, and EndEscape says so.
  [[nodiscard]] bool escape_open() const { return !pasting_ && !bytes_.empty() && bytes_[0] == 27; }
  void EndEscape();

 private:
  enum class Took { kKey, kNothing, kIncomplete };

  Took TakeOne(Key& key);
  Took TakeEscape(Key& key);
  Took TakeSequence(Key& key);
  Took TakeText(Key& key);
  Took TakePaste(Key& key);
  void Drop(std::size_t bytes) { bytes_.erase(0, bytes); }

  std::string bytes_;
  std::string paste_;
  bool pasting_ = false;
  bool escape_ended_ = false;
};

}  // namespace stet::tui
