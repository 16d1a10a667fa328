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

  /// Writes data. False once the reader has gone away: the caller stops.
  bool Print(std::string_view text);
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

/// "12.3 MB", in powers of 1024.
std::string BytesText(std::uint64_t bytes);
/// "2026-11-15 21:07", in local time.
std::string TimeText(std::int64_t unix_ms);
/// "5 min ago", or the date when it is long ago.
std::string AgeText(std::int64_t unix_ms, std::int64_t now_ms);

}  // namespace stet::face
