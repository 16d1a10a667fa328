// Screen: what a terminal shows in its last rows: text that is printed once and scrolls away, and
// below it a few rows that change. What was printed is never painted again.
//
// Keeps the bytes that are to be written until Take: it is told what to show, and touches no
// terminal. Text that is printed may have colours (ESC [ ... m) and no other control but "\n" and
// "\t". One thread; nothing here fails.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tui/line_editor/line_editor.h"

namespace stet::tui {

class Screen {
 public:
  Screen(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows) {}

  /// Goes on where the text before ended, which may be inside a line.
  void Print(std::string_view text);
  /// Ends the line, unless it is ended.
  void EndLine();

  /// What is below the text from now on. Rows must be narrower than the terminal.
  void Show(const EditorRows& bottom);
  /// Nothing is below.
  void Hide();
  /// Ctrl-L: an empty terminal, with the bottom at its top.
  void Clear();
  /// The terminal's size is another; it has broken its lines anew.
  void Resize(std::size_t columns, std::size_t rows);
  /// Another program wrote to the terminal: draw below it.
  void Forget();

  /// The bytes since the last time.
  std::string Take();

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  void Draw(const EditorRows& bottom);
  void Change(const EditorRows& bottom);
  void PutCursor(const EditorRows& bottom, std::size_t from_row);

  std::size_t columns_;
  std::size_t rows_;
  std::string out_;
  std::size_t column_ = 0;      // Where the printed text ends.
  std::size_t line_width_ = 0;  // Of the printed line so far, over all its rows.
  bool wrapped_ = false;  // That is the right edge, and the cursor is in the next row already.
  bool shown_ = false;
  EditorRows bottom_;  // As it is drawn.
};

/// How wide text with colours is.
std::size_t StyledWidth(std::string_view text);

}  // namespace stet::tui
