// The slash commands of every face: one table, and what a line that begins with "/" asks for.
//
// A face keeps one handler per row that names it, and checks with HandlesAll, when it is compiled,
// that it has neither more nor fewer. Commands of extensions are known by their names only: the
// caller hands them in, and a row of the table goes before one of the same name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/live.h"

namespace stet::client {

enum class Face : std::uint8_t { kTerminal, kAcp };

struct CommandRow {
  std::string_view name;      // Small letters, without the slash.
  std::string_view argument;  // What is to be written behind it; empty: nothing.
  std::string_view help;      // One line, which begins with a small letter.
  bool in_terminal = true;
  bool in_acp = false;

  [[nodiscard]] constexpr bool IsFor(Face face) const {
    return face == Face::kTerminal ? in_terminal : in_acp;
  }
};

/// In the order in which a face lists them.
inline constexpr auto kCommands = std::to_array<CommandRow>({
    {"help", "", "this list"},
    {"model", "[NAME]", "shows or changes the model"},
    {"effort", "[LEVEL]", "shows or changes how hard the model thinks"},
    {"mode", "[MODE]", "shows or changes what may run unasked"},
    {"permissions", "[forget RULE]", "the rules in force and where each stands; forgets a grant"},
    {"cost", "", "what the session's model calls came to"},
    {"context", "", "what the next request is made of, and how full the window is"},
    {"hooks", "", "what runs when something happens, and where it comes from"},
    {.name = "pin",
     .argument = "TEXT",
     .help = "keeps a text before the model's eyes, whatever is compacted",
     .in_acp = true},
    {.name = "pins", .argument = "", .help = "lists what is pinned", .in_acp = true},
    {.name = "unpin", .argument = "N", .help = "removes a pin", .in_acp = true},
    {"snip", "[N]", "lists the turns, or hides one from the model"},
    {"unsnip", "N", "shows a hidden turn again"},
    {"gate", "[NAME EVIDENCE | clear ID | waive ID WHY]", "what must be so before it may go on"},
    {"questions", "", "the open questions"},
    {"plan", "", "plans before it works; shows the plan"},
    {"rewind", "[EVENT]", "goes back, and puts files back if you want"},
    {"branch", "[LEAF]", "goes to another branch"},
    {"resume", "[ID]", "goes on with another session"},
    {.name = "continue",
     .argument = "",
     .help = "goes on with an interrupted turn, or with what is queued",
     .in_acp = true},
    {"queue", "[rm N | edit N TEXT]", "shows or changes what is queued"},
    {.name = "compact",
     .argument = "[FOCUS]",
     .help = "sums up what was said so far; FOCUS is kept above all",
     .in_acp = true},
    {"tasks", "[stop ID | output ID]", "what runs in the background"},
    {"export", "[FILE]", "writes the session to a tar, or its log to a .jsonl"},
    {.name = "title", .argument = "TEXT", .help = "names the session", .in_acp = true},
    {"quit", "", "ends; the session can be resumed"},
});

/// Whether `handlers`, which have a `name` each, are those of the rows for this face: one for each
/// row, and none besides.
template <typename Handler, std::size_t kCount>
consteval bool HandlesAll(const std::array<Handler, kCount>& handlers, Face face) {
  std::size_t rows = 0;
  for (const CommandRow& row : kCommands) {
    if (!row.IsFor(face)) continue;
    ++rows;
    if (std::ranges::count(handlers, row.name, &Handler::name) != 1) return false;
  }
  return rows == kCount;
}

struct ParsedLine {
  enum class Kind : std::uint8_t {
    kMessage,    // No command: "/usr/bin is full". The other members are empty.
    kCommand,    // A row of the table, for this face.
    kExtension,  // A command of an extension.
    kUnknown,    // Written like a command, but there is none of that name.
  };
  Kind kind = Kind::kMessage;
  std::string name = {};      // Without the slash.
  std::string argument = {};  // What is behind it, without blanks around.
  std::string nearest = {};   // Of kUnknown: the name most like it; empty when none is.

  friend bool operator==(const ParsedLine&, const ParsedLine&) = default;
};

/// What the line asks of this face. Never fails.
ParsedLine ParseLine(std::string_view line, Face face, const protocol::Texts& of_extensions);

/// The commands that `line`, a "/" and the beginning of a name, may become, in the table's order,
/// those of extensions last and each name once. None for any other line.
std::vector<std::string> CompletionsOf(std::string_view line, Face face,
                                       const protocol::Texts& of_extensions);

}  // namespace stet::client
