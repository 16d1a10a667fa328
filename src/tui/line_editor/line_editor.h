// LineEditor: the text that a user is writing, and what keys do to it. Knows nothing of terminals.
//
// The text is valid UTF-8 of at most kMaxText bytes; the cursor never stands inside a grapheme. One
// thread; nothing here fails.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tui/line_editor/history.h"
#include "tui/line_editor/keys.h"

namespace stet::tui {

class LineEditor {
 public:
  static constexpr std::size_t kMaxText = std::size_t{4} << 20;

  /// What the owner of the editor has to do about a key.
  enum class Does {
    kNothing,      // It was not for an editor, or changed nothing.
    kEdited,       // Draw it again.
    kSubmitted,    // Enter: Take gives the text.
    kEnded,        // Ctrl-D with nothing written.
    kInterrupted,  // Ctrl-C.
    kSuspended,    // Ctrl-Z.
    kCleared,      // Ctrl-L.
    kEscaped,
  };

  /// `history` must outlive the editor; null: there is none.
  explicit LineEditor(History* history = nullptr) : history_(history) {}

  Does Press(const Key& key);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t cursor() const { return cursor_; }
  void SetText(std::string text);
  /// The text, which is then gone from here.
  std::string Take();

 private:
  Does PressCtrl(char letter);
  Does Enter();
  Does Insert(std::string_view text);
  Does Erase(std::size_t from, std::size_t to);
  Does MoveTo(std::size_t place);
  Does UpOrDown(bool up);
  Does Recall(bool older);

  [[nodiscard]] std::size_t LineBegin(std::size_t at) const;
  [[nodiscard]] std::size_t LineEnd(std::size_t at) const;
  [[nodiscard]] std::size_t Before(std::size_t at) const;
  [[nodiscard]] std::size_t After(std::size_t at) const;
  [[nodiscard]] std::size_t WordLeft() const;
  [[nodiscard]] std::size_t WordRight() const;

  std::string text_;
  std::size_t cursor_ = 0;  // A place in text_.
  History* history_;
  std::optional<std::size_t> recalled_;  // Which entry of the history is shown.
  std::string draft_;                    // What was being written before one was.
};

/// How a text is drawn: each row is narrower than the terminal, so that none wraps by itself.
struct EditorRows {
  std::vector<std::string> rows;
  std::size_t cursor_row = 0;
  std::size_t cursor_column = 0;

  friend bool operator==(const EditorRows&, const EditorRows&) = default;
};

/// `prompt` stands before the first line; the others are indented as far. Of more than `max_rows`
/// rows those around the cursor are given.
EditorRows LayOut(std::string_view prompt, std::string_view text, std::size_t cursor,
                  std::size_t columns, std::size_t max_rows);

}  // namespace stet::tui
