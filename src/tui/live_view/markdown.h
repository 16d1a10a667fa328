// MarkdownStream: what a model writes, as it comes, made safe for a terminal and lightly styled:
// headings bold, code cyan. The words stay as they are.
//
// Text comes in any pieces; at most a line's first few characters, or half a character, are held
// back. One thread; nothing here fails.
#pragma once

#include <string>
#include <string_view>

#include "face/console.h"

namespace stet::tui {

class MarkdownStream {
 public:
  /// `terminal` must outlive it.
  explicit MarkdownStream(const face::Console& console) : console_(console) {}

  /// What may be printed now.
  std::string Feed(std::string_view text);
  /// The rest; the next text is another one's beginning.
  std::string End();

 private:
  std::string Lines(std::string_view text, bool last);
  [[nodiscard]] bool Undecided(std::string_view line) const;
  void Begin(std::string_view line);

  const face::Console& console_;
  std::string held_;
  bool in_line_ = false;  // The style of the line is known.
  bool in_code_ = false;
  bool fence_ = false;  // The line opens or closes code.
  face::Style style_ = face::Style::kPlain;
};

}  // namespace stet::tui
