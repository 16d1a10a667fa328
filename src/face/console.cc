#include "face/console.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/display_width.h"
#include "base/fs.h"

namespace stet::face {
namespace {

/// The value of an environment variable; empty when it is not set.
std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::size_t Columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  std::size_t columns = 0;
  const std::string_view text = Variable("COLUMNS");
  std::from_chars(text.data(), text.data() + text.size(), columns);
  constexpr std::size_t kDefault = 100;
  return columns > 0 ? columns : kDefault;
}

std::string_view ColourCode(Style style) {
  switch (style) {
    case Style::kBold: return "1";
    case Style::kDim: return "2";
    case Style::kRed: return "31";
    case Style::kGreen: return "32";
    case Style::kYellow: return "33";
    case Style::kCyan: return "36";
    case Style::kPlain: break;
  }
  return "0";
}

/// How many bytes the first character has, by its first byte; `text` is not empty.
std::size_t CharacterSize(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

/// Of a character below U+10000, as the escapes of JSON have it.
unsigned CodeUnit(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  unsigned unit = lead & (0x7FU >> character.size());
  for (const char c : character.substr(1))
    unit = (unit << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return unit;
}

}  // namespace

Console Console::Detect() {
  Console console;
  console.stdout_is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  const std::string_view term = Variable("TERM");
  console.color_ = console.stdout_is_terminal_ && Variable("NO_COLOR").empty() && !term.empty() &&
                   term != "dumb";
  console.interactive_ = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  console.columns_ = Columns();
  return console;
}

bool Console::Print(std::string_view text) { return WriteAll(STDOUT_FILENO, text).has_value(); }

bool Console::PrintText(std::string_view text) {
  return stdout_is_terminal_ ? Print(PrintableText(text)) : Print(text);
}

bool Console::PrintJson(std::string_view json) {
  return stdout_is_terminal_ ? Print(TerminalJson(json)) : Print(json);
}

void Console::Say(std::string_view text) {
  // Messages hold what files, models and servers wrote. Ignoring the error on purpose: there is
  // nowhere left to tell it.
  (void)WriteAll(STDERR_FILENO, PrintableText(text) + "\n");
}

bool Console::Ask(std::string_view question) {
  if (!interactive_) return false;
  (void)WriteAll(STDERR_FILENO, fmt::format("{} [y/N] ", question));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

std::string Console::Styled(Style style, std::string_view text) const {
  if (!color_ || style == Style::kPlain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", ColourCode(style), text);
}

std::string TerminalJson(std::string_view json) {
  if (PrintableText(json) == json) return std::string(json);
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const std::string_view character = json.substr(0, CharacterSize(json));
    json.remove_prefix(character.size());
    if (PrintableText(character) == character)
      out += character;
    else
      out += fmt::format("\\u{:04x}", CodeUnit(character));
  }
  return out;
}

std::string BytesText(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  constexpr double kStep = 1024;
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= kStep && unit + 1 < kUnits.size()) {
    value /= kStep;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string TimeText(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "?";
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local);
  return {text.data(), length};
}

std::string AgeText(std::int64_t unix_ms, std::int64_t now_ms) {
  constexpr std::int64_t kMinute = 60'000;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t age = now_ms - unix_ms;
  if (unix_ms <= 0) return "-";
  if (age < kMinute) return "just now";
  if (age < kHour) return fmt::format("{} min ago", age / kMinute);
  if (age < kDay) return fmt::format("{} h ago", age / kHour);
  if (age < 7 * kDay) return fmt::format("{} d ago", age / kDay);
  return TimeText(unix_ms).substr(0, 10);
}

}  // namespace stet::face
