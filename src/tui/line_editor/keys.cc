#include "tui/line_editor/keys.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace stet::tui {
namespace {

constexpr char kEscapeByte = 27;
constexpr unsigned char kDeleteByte = 127;
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kMaxSequence = 64;

struct Sequence {
  std::string_view text;  // Behind the "[" or "O".
  Key::Kind kind;
};

// Modifiers: 2 Shift, 3 Alt, 5 Ctrl, 9 Meta. Each terminal has its own for the same key.
constexpr std::array kSequences = {
    Sequence{"A", Key::Kind::kUp},
    Sequence{"B", Key::Kind::kDown},
    Sequence{"C", Key::Kind::kRight},
    Sequence{"D", Key::Kind::kLeft},
    Sequence{"H", Key::Kind::kHome},
    Sequence{"F", Key::Kind::kEnd},
    Sequence{"1~", Key::Kind::kHome},
    Sequence{"7~", Key::Kind::kHome},
    Sequence{"4~", Key::Kind::kEnd},
    Sequence{"8~", Key::Kind::kEnd},
    Sequence{"3~", Key::Kind::kDelete},
    Sequence{"1;3C", Key::Kind::kWordRight},
    Sequence{"1;5C", Key::Kind::kWordRight},
    Sequence{"1;9C", Key::Kind::kWordRight},
    Sequence{"1;3D", Key::Kind::kWordLeft},
    Sequence{"1;5D", Key::Kind::kWordLeft},
    Sequence{"1;9D", Key::Kind::kWordLeft},
    Sequence{"3;3~", Key::Kind::kEraseWordRight},
    Sequence{"3;5~", Key::Kind::kEraseWordRight},
    Sequence{"13;2u", Key::Kind::kNewLine},
    Sequence{"13;3u", Key::Kind::kNewLine},
    Sequence{"27;2;13~", Key::Kind::kNewLine},
    Sequence{"27;3;13~", Key::Kind::kNewLine},
};

/// How long a UTF-8 character is that begins with this byte; 0 when none does.
std::size_t CharacterSize(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

bool BeginsSequence(char behind_escape) { return behind_escape == '[' || behind_escape == 'O'; }

/// Whether Alt with this key is a key of its own.
bool IsBoundWithAlt(char key) {
  constexpr std::string_view kBound = "\r\nbfd\x08\x7f";
  return kBound.contains(key);
}

std::string CleanPaste(std::string_view pasted) {
  std::string lines;
  for (std::size_t i = 0; i < pasted.size(); ++i) {
    const char c = pasted[i];
    if (c == '\r') {
      if (i + 1 == pasted.size() || pasted[i + 1] != '\n') lines += '\n';
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') {
      if (static_cast<unsigned char>(c) != kDeleteByte) lines += c;
    }
  }
  return ReplaceInvalidUtf8(lines);
}

}  // namespace

/// A terminal sends a sequence, or a key with Alt, at once: an Escape that stood alone at the end
/// of what came before was the key itself, unless a sequence goes on behind it.
void KeyReader::Feed(std::string_view bytes) {
  escape_ended_ =
      !bytes.empty() && escape_open() && bytes_.size() == 1 && !BeginsSequence(bytes[0]);
  bytes_ += bytes;
}

void KeyReader::EndEscape() { escape_ended_ = true; }

std::optional<Key> KeyReader::Next() {
  while (!bytes_.empty() || pasting_) {
    Key key;
    const Took took = pasting_ ? TakePaste(key) : TakeOne(key);
    if (took == Took::kKey) return key;
    if (took == Took::kIncomplete) break;
  }
  return std::nullopt;
}

KeyReader::Took KeyReader::TakeOne(Key& key) {
  const auto first = static_cast<unsigned char>(bytes_[0]);
  if (bytes_[0] == kEscapeByte) return TakeEscape(key);
  if (first >= ' ' && first != kDeleteByte) return TakeText(key);
  Drop(1);
  switch (first) {
    case '\r':
    case '\n': key.kind = Key::Kind::kEnter; break;
    case '\t': key.kind = Key::Kind::kTab; break;
    case 8:
    case kDeleteByte: key.kind = Key::Kind::kBackspace; break;
    default:
      if (first == 0 || first > 26) return Took::kNothing;
      key.kind = Key::Kind::kCtrl;
      key.text = static_cast<char>('a' + first - 1);
  }
  return Took::kKey;
}

KeyReader::Took KeyReader::TakeText(Key& key) {
  const std::size_t size = CharacterSize(static_cast<unsigned char>(bytes_[0]));
  if (size == 0) {
    Drop(1);
    return Took::kNothing;
  }
  const std::string_view begun = std::string_view(bytes_).substr(1, size - 1);
  const bool goes_on = std::ranges::all_of(
      begun, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
  if (!goes_on) {
    Drop(1);
    return Took::kNothing;
  }
  if (bytes_.size() < size) return Took::kIncomplete;
  key.kind = Key::Kind::kText;
  key.text = bytes_.substr(0, size);
  Drop(size);
  // Overlong forms, surrogates and the controls from U+0080 on are not typed.
  const bool control = size == 2 && static_cast<unsigned char>(key.text[0]) == 0xC2 &&
                       static_cast<unsigned char>(key.text[1]) < 0xA0;
  return IsValidUtf8(key.text) && !control ? Took::kKey : Took::kNothing;
}

KeyReader::Took KeyReader::TakeEscape(Key& key) {
  const bool twice = bytes_.size() == 2 && bytes_[1] == kEscapeByte;
  const bool sequence = bytes_.size() > 1 && BeginsSequence(bytes_[1]);
  if (bytes_.size() == 1 && !escape_ended_) return Took::kIncomplete;
  if (!sequence && (escape_ended_ || twice)) {
    escape_ended_ = false;
    Drop(1);
    key.kind = Key::Kind::kEscape;
    return Took::kKey;
  }
  if (sequence) return TakeSequence(key);
  const char with_alt = bytes_[1];
  // Alt before another sequence: that one counts.
  Drop(1);
  if (with_alt == kEscapeByte) return Took::kNothing;
  if (!IsBoundWithAlt(with_alt)) {
    // Two keys that came at once: neither is lost.
    key.kind = Key::Kind::kEscape;
    return Took::kKey;
  }
  Drop(1);
  switch (with_alt) {
    case '\r':
    case '\n': key.kind = Key::Kind::kNewLine; return Took::kKey;
    case 'b': key.kind = Key::Kind::kWordLeft; return Took::kKey;
    case 'f': key.kind = Key::Kind::kWordRight; return Took::kKey;
    case 'd': key.kind = Key::Kind::kEraseWordRight; return Took::kKey;
    default: key.kind = Key::Kind::kEraseWordLeft; return Took::kKey;
  }
}

KeyReader::Took KeyReader::TakeSequence(Key& key) {
  std::size_t end = 2;
  while (end < bytes_.size() && end < kMaxSequence && bytes_[end] >= ' ' && bytes_[end] < '@')
    ++end;
  if (end == bytes_.size()) {
    if (!escape_ended_) return Took::kIncomplete;
    bytes_.clear();
    return Took::kNothing;
  }
  const std::string text = bytes_.substr(2, end - 1);
  // What is no final byte begins something else.
  const bool final = bytes_[end] >= '@' && bytes_[end] < 127;
  Drop(final ? end + 1 : end);
  if (text == "200~") {
    pasting_ = true;
    paste_.clear();
    return Took::kNothing;
  }
  const auto* known = std::ranges::find(kSequences, text, &Sequence::text);
  if (known == kSequences.end()) return Took::kNothing;
  key.kind = known->kind;
  return Took::kKey;
}

KeyReader::Took KeyReader::TakePaste(Key& key) {
  const std::size_t end = bytes_.find(kPasteEnd);
  // The end may have come in part.
  const std::size_t sure = end != std::string::npos ? end
                           : bytes_.size() < kPasteEnd.size()
                               ? 0
                               : bytes_.size() - kPasteEnd.size() + 1;
  paste_.append(bytes_, 0, std::min(sure, kMaxPaste - paste_.size()));
  Drop(sure);
  if (end == std::string::npos) return Took::kIncomplete;
  Drop(kPasteEnd.size());
  pasting_ = false;
  key.kind = Key::Kind::kPaste;
  key.text = CleanPaste(paste_);
  paste_.clear();
  return Took::kKey;
}

}  // namespace stet::tui
