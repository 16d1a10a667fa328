// MarkdownStream: what a model writes, as it comes, made safe for a terminal and lightly styled:
// headings bold, code cyan. The words stay as they are.
//
// Text comes in any pieces; at most a line's first few characters, or half a character, are held
// back. One thread; nothing here fails.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.h"

namespace stet::cli {

class MarkdownStream {
 public:
  /// `terminal` must outlive it.
  explicit MarkdownStream(const Terminal& terminal) : terminal_(terminal) {}

  /// What may be printed now.
  std::string Feed(std::string_view text);
  /// The rest; the next text is another one's beginning.
  std::string End();

 private:
  std::string Lines(std::string_view text, bool last);
  [[nodiscard]] bool Undecided(std::string_view line) const;
  void Begin(std::string_view line);

  const Terminal& terminal_;
  std::string held_;
  bool in_line_ = false;  // The style of the line is known.
  bool in_code_ = false;
  bool fence_ = false;  // The line opens or closes code.
  Style style_ = Style::kPlain;
};

}  // namespace stet::cli
