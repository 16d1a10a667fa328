// A line of the log: one JSON object whose last member is the crc of all bytes before it.
// doc/format/log.md is the format.
//
// CheckLine notices every flipped bit; ReadPrefix reads what an index needs without looking at the
// rest of the line. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stet::log {

/// The longest line that a log takes. Larger content belongs in a blob.
inline constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

/// Ends the object that starts at `start` in `out` and runs to its end: its closing brace becomes
/// `,"crc":"..."}` and LF.
void SealLine(std::string& out, std::size_t start);

/// Whether `line`, without its LF, is a whole object with the right crc.
bool CheckLine(std::string_view line);

/// A checked line as it was before it was sealed: the object without its crc.
std::string Unsealed(std::string_view line);

/// The crc that a checked line carries.
std::string_view LineCrc(std::string_view line);

/// The members that an index keeps. Text is as it stands in the line, escapes and all; it lives as
/// long as the line.
struct Prefix {
  std::uint64_t seq = 0;
  std::string_view id;
  std::optional<std::string_view> parent_id;
  std::string_view type;
  std::int64_t ts = 0;
  bool critical = false;
  std::string_view role;
  std::string_view op;
  std::string_view client_message_id;
  std::string_view queue_item_id;
  std::string_view owed_id;
  std::uint32_t calls = 0;
  std::uint32_t call_index = 0;
  bool carries = false;  // It says what it pays.
};

/// Nothing when the line does not start as an event does.
std::optional<Prefix> ReadPrefix(std::string_view line);

/// Appends a checked line again under another seq and parent (both as they stand in a line),
/// sealed; every other byte of it stays as it is.
void AppendReseated(std::string& out, std::string_view line, std::uint64_t seq,
                    std::optional<std::string_view> parent_id);

/// `text` as ReadPrefix would give it: JSON's escapes, without the quotes.
std::string EscapedText(std::string_view text);

/// A run of bytes inside a damaged stretch.
struct Piece {
  std::size_t offset = 0;
  std::size_t length = 0;
  bool good = false;  // A whole line with the right crc, without its LF.
};

/// Finds the lines that survive inside bytes that are not one good line, as when the LF between two
/// of them was hit. The pieces cover all of `bytes` in order.
std::vector<Piece> SplitDamaged(std::string_view bytes);

}  // namespace stet::log
