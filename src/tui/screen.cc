#include "tui/screen.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"

namespace stet::tui {
namespace {

constexpr std::size_t kTabStop = 8;

/// The length of the colour that `text` begins with; 0 when it begins with none.
std::size_t ColourLength(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find('m');
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::string Up(std::size_t rows) { return rows == 0 ? "" : fmt::format("\x1b[{}A", rows); }
std::string ToColumn(std::size_t column) { return fmt::format("\x1b[{}G", column + 1); }

}  // namespace

std::size_t StyledWidth(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t colour = ColourLength(text);
    if (colour == 0) plain += text[0];
    text.remove_prefix(std::max<std::size_t>(colour, 1));
  }
  return TextWidth(plain);
}

void Screen::Print(std::string_view text) {
  if (text.empty()) return;
  Hide();
  while (!text.empty()) {
    if (const std::size_t colour = ColourLength(text); colour > 0) {
      out_ += text.substr(0, colour);
      text.remove_prefix(colour);
      continue;
    }
    if (text[0] == '\n') {
      if (!wrapped_) out_ += "\r\n";
      column_ = line_width_ = 0;
      wrapped_ = false;
      text.remove_prefix(1);
      continue;
    }
    const bool tab = text[0] == '\t';
    const std::size_t size = tab ? 1 : FirstGrapheme(text);
    const std::string shown =
        tab ? std::string(kTabStop - (column_ % kTabStop), ' ') : std::string(text.substr(0, size));
    const std::size_t wide = TextWidth(shown);
    column_ = column_ + wide > columns_ ? std::min(wide, columns_) : column_ + wide;
    line_width_ += wide;
    wrapped_ = false;
    out_ += shown;
    text.remove_prefix(size);
  }
}

void Screen::EndLine() {
  if (column_ > 0) Print("\n");
}

void Screen::Hide() {
  if (!shown_) return;
  shown_ = false;
  out_ += Up(bottom_.cursor_row) + "\r\x1b[J";
  if (column_ > 0 && !wrapped_) out_ += Up(1) + ToColumn(column_);
}

void Screen::Show(const EditorRows& bottom) {
  if (shown_ && bottom == bottom_) return;
  if (shown_ && bottom.rows.size() == bottom_.rows.size())
    Change(bottom);
  else
    Draw(bottom);
  bottom_ = bottom;
}

void Screen::Draw(const EditorRows& bottom) {
  Hide();
  shown_ = true;
  if (column_ > 0 && !wrapped_) {
    out_ += "\r\n";
    wrapped_ = column_ >= columns_;
  }
  for (std::size_t row = 0; row < bottom.rows.size(); ++row) {
    if (row > 0) out_ += "\r\n";
    out_ += bottom.rows[row];
  }
  PutCursor(bottom, bottom.rows.size() - 1);
}

/// Only the rows that differ.
void Screen::Change(const EditorRows& bottom) {
  out_ += Up(bottom_.cursor_row);
  for (std::size_t row = 0; row < bottom.rows.size(); ++row) {
    if (row > 0) out_ += "\x1b[1B";
    if (bottom.rows[row] != bottom_.rows[row]) out_ += "\r" + bottom.rows[row] + "\x1b[K";
  }
  PutCursor(bottom, bottom.rows.size() - 1);
}

void Screen::PutCursor(const EditorRows& bottom, std::size_t from_row) {
  out_ += Up(from_row - bottom.cursor_row) + ToColumn(bottom.cursor_column);
}

void Screen::Clear() {
  out_ += "\x1b[H\x1b[2J";
  Forget();
}

void Screen::Forget() {
  shown_ = false;
  wrapped_ = false;
  column_ = line_width_ = 0;
}

void Screen::Resize(std::size_t columns, std::size_t rows) {
  if (columns == columns_ && rows == rows_) return;
  // Rows that were drawn take more of them when the terminal has become narrower.
  std::size_t above = 0;
  for (std::size_t row = 0; shown_ && row < bottom_.cursor_row; ++row)
    above += std::max<std::size_t>(1, (StyledWidth(bottom_.rows[row]) + columns - 1) / columns);
  above += shown_ ? bottom_.cursor_column / columns : 0;
  bottom_.cursor_row = above;
  columns_ = columns;
  rows_ = rows;
  const bool edge = line_width_ > 0 && line_width_ % columns == 0;
  column_ = edge ? columns : line_width_ % columns;
  wrapped_ = wrapped_ && edge;
  Hide();
}

std::string Screen::Take() {
  std::string bytes = std::move(out_);
  out_.clear();
  return bytes;
}

}  // namespace stet::tui
