// Terminal: where a command's output goes and what it can show. Data goes to stdout, everything
// else to stderr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stet::face {

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kCyan };

class Console {
 public:
  /// Looks at stdout, stderr, stdin and the environment (NO_COLOR, TERM, COLUMNS).
  static Console Detect();

  /// Writes data as it is. False once the reader has gone away: the caller stops.
  bool Print(std::string_view text);
  /// Writes what others wrote, such as a model's answer. A terminal is shown what it cannot be
  /// driven by; a pipe or a file gets the bytes.
  bool PrintText(std::string_view text);
  /// The same for JSON, which stays the same value on a terminal too.
  bool PrintJson(std::string_view json);
  /// Tells people something.
  void Say(std::string_view text);
  /// Asks on stderr and reads a line from stdin: true only for yes. False without a terminal to ask
  /// at.
  bool Ask(std::string_view question);

  /// `text` in a style, if stdout shows styles.
  [[nodiscard]] std::string Styled(Style style, std::string_view text) const;

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool interactive() const { return interactive_; }
  [[nodiscard]] bool stdout_is_terminal() const { return stdout_is_terminal_; }

 private:
  std::size_t columns_ = 100;
  bool color_ = false;
  bool interactive_ = false;  // The user can be asked.
  bool stdout_is_terminal_ = false;
};

/// `json` with escapes in place of what would drive a terminal. A writer of JSON escapes only what
/// the grammar wants: not DEL, U+0080 to U+009F and what turns text around.
std::string TerminalJson(std::string_view json);

/// "12.3 MB", in powers of 1024.
std::string BytesText(std::uint64_t bytes);
/// "2026-11-15 21:07", in local time.
std::string TimeText(std::int64_t unix_ms);
/// "5 min ago", or the date when it is long ago.
std::string AgeText(std::int64_t unix_ms, std::int64_t now_ms);

}  // namespace stet::face
