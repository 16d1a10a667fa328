// VtScreen: what a terminal would show of the bytes it is sent: rows, wrapping, wide characters and
// the few sequences that stet uses. For tests; an unknown sequence fails them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/display_width.h"

namespace stet::tui {

class VtScreen {
 public:
  VtScreen(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows, Row(columns, " ")) {}

  /// Sequences and characters may be cut anywhere.
  void Feed(std::string_view bytes) {
    held_ += bytes;
    while (!held_.empty()) {
      const std::size_t taken = TakeOne(held_);
      if (taken == 0) return;
      held_.erase(0, taken);
    }
  }

  /// Everything there was, also what has scrolled away: rows without the blanks at their ends.
  [[nodiscard]] std::string Text() const {
    std::string text;
    for (const std::string& row : scrolled_) text += row + "\n";
    for (const Row& row : rows_) text += Joined(row) + "\n";
    text.erase(text.find_last_not_of("\n ") + 1);
    return text;
  }
  /// The row that the cursor is in, and its column.
  [[nodiscard]] std::string CursorRow() const { return Joined(rows_[row_]); }
  [[nodiscard]] std::size_t cursor_column() const { return column_; }
  [[nodiscard]] std::size_t bells() const { return bells_; }

 private:
  using Row = std::vector<std::string>;  // A wide character has an empty cell behind it.

  static std::string Joined(const Row& row) {
    std::string text;
    for (const std::string& cell : row) text += cell;
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  std::size_t TakeOne(std::string_view text) {
    switch (text[0]) {
      case '\r':
        column_ = 0;
        wraps_ = false;
        return 1;
      case '\n': NextRow(); return 1;
      case '\a': ++bells_; return 1;
      case 27: return TakeEscape(text);
      default: break;
    }
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < size) return 0;
    Put(std::string(text.substr(0, size)));
    return size;
  }

  std::size_t TakeEscape(std::string_view text) {
    if (text.size() < 2) return 0;
    if (text[1] == ']') {
      const std::size_t end = text.find("\x1b\\");
      return end == std::string_view::npos ? 0 : end + 2;
    }
    EXPECT_EQ(text[1], '[') << "an unknown sequence";
    std::size_t end = 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    if (end == text.size()) return 0;
    const std::string parameter(text.substr(2, end - 2));
    Obey(text[end], parameter);
    return end + 1;
  }

  void Obey(char what, const std::string& parameter) {
    const bool is_private = parameter.starts_with('?');
    const std::size_t number =
        parameter.empty() || is_private ? 1 : static_cast<std::size_t>(std::stoul(parameter));
    if (what != 'm' && what != 'h' && what != 'l') wraps_ = false;
    switch (what) {
      case 'A': row_ -= std::min(number, row_); break;
      case 'B': row_ = std::min(row_ + number, rows_.size() - 1); break;
      case 'G': column_ = std::min(number - 1, columns_ - 1); break;
      case 'H': row_ = column_ = 0; break;
      case 'K': Erase(rows_[row_], column_); break;
      case 'J':
        if (parameter == "2") {
          for (Row& row : rows_) Erase(row, 0);
          break;
        }
        Erase(rows_[row_], column_);
        for (std::size_t row = row_ + 1; row < rows_.size(); ++row) Erase(rows_[row], 0);
        break;
      case 'm': break;
      case 'h':
      case 'l': EXPECT_TRUE(is_private) << parameter; break;
      default: ADD_FAILURE() << "an unknown sequence: " << parameter << what;
    }
  }

  void Erase(Row& row, std::size_t from) const {
    for (std::size_t at = from; at < columns_; ++at) row[at] = " ";
  }

  void NextRow() {
    wraps_ = false;
    if (row_ + 1 < rows_.size()) {
      ++row_;
      return;
    }
    scrolled_.push_back(Joined(rows_.front()));
    rows_.erase(rows_.begin());
    rows_.emplace_back(columns_, " ");
  }

  void Put(const std::string& character) {
    const std::size_t wide = TextWidth(character);
    if (wide == 0) {
      if (column_ > 0) rows_[row_][column_ - 1] += character;
      return;
    }
    if (wraps_ || column_ + wide > columns_) {
      NextRow();
      column_ = 0;
    }
    rows_[row_][column_] = character;
    if (wide == 2) rows_[row_][column_ + 1] = "";
    column_ += wide;
    wraps_ = column_ == columns_;
    if (wraps_) --column_;
  }

  std::size_t columns_;
  std::vector<Row> rows_;
  std::vector<std::string> scrolled_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  bool wraps_ = false;  // The next character begins a new row.
  std::size_t bells_ = 0;
  std::string held_;
};

}  // namespace stet::tui
