#include "tui/line_editor/line_editor.h"

#include <algorithm>

#include "base/display_width.h"
#include "base/utf8.h"

namespace stet::tui {
namespace {

constexpr std::string_view kTabShown = "    ";

/// Letters, digits and everything beyond ASCII.
bool InWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

LineEditor::Does LineEditor::Press(const Key& key) {
  switch (key.kind) {
    case Key::Kind::kText:
    case Key::Kind::kPaste: return Insert(key.text);
    case Key::Kind::kNewLine: return Insert("\n");
    case Key::Kind::kCtrl: return PressCtrl(key.text.empty() ? ' ' : key.text[0]);
    case Key::Kind::kEnter: return Enter();
    case Key::Kind::kBackspace: return Erase(Before(cursor_), cursor_);
    case Key::Kind::kDelete: return Erase(cursor_, After(cursor_));
    case Key::Kind::kLeft: return MoveTo(Before(cursor_));
    case Key::Kind::kRight: return MoveTo(After(cursor_));
    case Key::Kind::kUp: return UpOrDown(true);
    case Key::Kind::kDown: return UpOrDown(false);
    case Key::Kind::kHome: return MoveTo(LineBegin(cursor_));
    case Key::Kind::kEnd: return MoveTo(LineEnd(cursor_));
    case Key::Kind::kWordLeft: return MoveTo(WordLeft());
    case Key::Kind::kWordRight: return MoveTo(WordRight());
    case Key::Kind::kEraseWordLeft: return Erase(WordLeft(), cursor_);
    case Key::Kind::kEraseWordRight: return Erase(cursor_, WordRight());
    case Key::Kind::kEscape: return Does::kEscaped;
    case Key::Kind::kTab: break;
  }
  return Does::kNothing;
}

LineEditor::Does LineEditor::PressCtrl(char letter) {
  switch (letter) {
    case 'a': return MoveTo(LineBegin(cursor_));
    case 'e': return MoveTo(LineEnd(cursor_));
    case 'b': return MoveTo(Before(cursor_));
    case 'f': return MoveTo(After(cursor_));
    case 'p': return UpOrDown(true);
    case 'n': return UpOrDown(false);
    case 'k': {
      const std::size_t end = LineEnd(cursor_);
      return Erase(cursor_, end == cursor_ ? After(cursor_) : end);
    }
    case 'u': return Erase(LineBegin(cursor_), cursor_);
    case 'w': {
      // As shells do it: back to white space.
      std::size_t from = cursor_;
      while (from > 0 && static_cast<unsigned char>(text_[from - 1]) <= ' ') --from;
      while (from > 0 && static_cast<unsigned char>(text_[from - 1]) > ' ') --from;
      return Erase(from, cursor_);
    }
    case 'd': return text_.empty() ? Does::kEnded : Erase(cursor_, After(cursor_));
    case 'c': return Does::kInterrupted;
    case 'z': return Does::kSuspended;
    case 'l': return Does::kCleared;
    default: return Does::kNothing;
  }
}

LineEditor::Does LineEditor::Enter() {
  if (cursor_ == text_.size() && text_.ends_with('\\')) {
    text_.back() = '\n';
    return Does::kEdited;
  }
  return Does::kSubmitted;
}

LineEditor::Does LineEditor::Insert(std::string_view text) {
  const std::size_t room = kMaxText - std::min(kMaxText, text_.size());
  text = text.substr(0, Utf8PrefixLength(text, room));
  text_.insert(cursor_, text);
  cursor_ += text.size();
  return text.empty() ? Does::kNothing : Does::kEdited;
}

LineEditor::Does LineEditor::Erase(std::size_t from, std::size_t to) {
  if (from >= to) return Does::kNothing;
  text_.erase(from, to - from);
  cursor_ = from;
  return Does::kEdited;
}

LineEditor::Does LineEditor::MoveTo(std::size_t place) {
  if (place == cursor_) return Does::kNothing;
  cursor_ = place;
  return Does::kEdited;
}

/// Within the text while there is a line, then through the history.
LineEditor::Does LineEditor::UpOrDown(bool up) {
  const std::size_t begin = LineBegin(cursor_);
  const std::size_t end = LineEnd(cursor_);
  if (up ? begin == 0 : end == text_.size()) return Recall(up);
  const std::size_t column = TextWidth(std::string_view(text_).substr(begin, cursor_ - begin));
  const std::size_t line = up ? LineBegin(begin - 1) : end + 1;
  const std::size_t line_end = LineEnd(line);
  std::size_t at = line;
  while (at < line_end &&
         TextWidth(std::string_view(text_).substr(line, After(at) - line)) <= column)
    at = After(at);
  return MoveTo(at);
}

LineEditor::Does LineEditor::Recall(bool older) {
  if (history_ == nullptr || (!older && !recalled_)) return Does::kNothing;
  const std::vector<std::string>& entries = history_->entries();
  const std::size_t at = recalled_.value_or(entries.size());
  if (older && at == 0) return Does::kNothing;
  if (!recalled_) draft_ = text_;
  const std::size_t next = older ? at - 1 : at + 1;
  const bool back = next >= entries.size();
  std::string shown = back ? draft_ : entries[next];
  SetText(std::move(shown));
  recalled_ = back ? std::nullopt : std::optional(next);
  return Does::kEdited;
}

void LineEditor::SetText(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
  recalled_.reset();
}

std::string LineEditor::Take() {
  std::string taken = std::move(text_);
  SetText("");
  return taken;
}

std::size_t LineEditor::LineBegin(std::size_t at) const {
  const std::size_t end = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return end == std::string::npos ? 0 : end + 1;
}

std::size_t LineEditor::LineEnd(std::size_t at) const {
  return std::min(text_.find('\n', at), text_.size());
}

std::size_t LineEditor::After(std::size_t at) const {
  return at + FirstGrapheme(std::string_view(text_).substr(at));
}

std::size_t LineEditor::Before(std::size_t at) const {
  const std::size_t begin = LineBegin(at);
  if (begin == at) return at == 0 ? 0 : at - 1;
  std::size_t before = begin;
  for (std::size_t next = After(before); next < at; next = After(before)) before = next;
  return before;
}

std::size_t LineEditor::WordLeft() const {
  std::size_t at = cursor_;
  while (at > 0 && !InWord(text_[at - 1])) --at;
  while (at > 0 && InWord(text_[at - 1])) --at;
  return at;
}

std::size_t LineEditor::WordRight() const {
  std::size_t at = cursor_;
  while (at < text_.size() && !InWord(text_[at])) ++at;
  while (at < text_.size() && InWord(text_[at])) ++at;
  return at;
}

EditorRows LayOut(std::string_view prompt, std::string_view text, std::size_t cursor,
                  std::size_t columns, std::size_t max_rows) {
  EditorRows out;
  const std::size_t room = std::max<std::size_t>(columns, 2) - 1;
  std::string first = FitText(prompt, room / 2);
  const std::size_t indent = TextWidth(first);
  out.rows.push_back(std::move(first));
  std::size_t width = indent;
  const auto new_row = [&] {
    out.rows.emplace_back(indent, ' ');
    width = indent;
  };
  for (std::size_t at = 0;;) {
    const std::string_view rest = text.substr(at);
    const std::size_t size = rest.starts_with('\n') ? 1 : FirstGrapheme(rest);
    const std::string_view shown = rest.starts_with('\t') ? kTabShown : rest.substr(0, size);
    const std::size_t wide = rest.starts_with('\n') ? 0 : TextWidth(shown);
    if (width + wide > room && width > indent) new_row();
    if (at == cursor) {
      // Behind the last column the cursor has no place in this row.
      if (width >= room && wide == 0 && width > indent) new_row();
      out.cursor_row = out.rows.size() - 1;
      out.cursor_column = width;
    }
    if (size == 0) break;
    if (rest.starts_with('\n')) {
      new_row();
    } else {
      out.rows.back() += shown;
      width += wide;
    }
    at += size;
  }
  max_rows = std::max<std::size_t>(max_rows, 1);
  if (out.rows.size() <= max_rows) return out;
  const std::size_t before = std::min(out.cursor_row, max_rows / 2);
  const std::size_t top = std::min(out.cursor_row - before, out.rows.size() - max_rows);
  out.rows.erase(out.rows.begin(), out.rows.begin() + static_cast<std::ptrdiff_t>(top));
  out.rows.resize(max_rows);
  out.cursor_row -= top;
  return out;
}

}  // namespace stet::tui
