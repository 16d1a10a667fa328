// The table of programs: what each does, and which of its options change that. Data; pure.
#pragma once

#include <span>
#include <string_view>

#include "policy/shell/shell.h"

namespace stet::policy {

/// What the words are that are no options.
enum class Operands {
  kNone,     // No paths.
  kRead,     // Paths that are read.
  kTree,     // Paths that are read with all below them; without any, the working folder.
  kPattern,  // The first is an expression, the others are read.
  kChange,   // Paths that are made or changed.
  kLose,     // Paths that are deleted.
  kTarget,   // The last is overwritten, the others are read.
  kLink,     // The last is made, the others are only named.
};

struct ProgramRow {
  std::string_view names;  // Divided by blanks.
  /// Its subcommands, divided by blanks ("stash+list" for two words); "*": every other; empty: it
  /// has none.
  std::string_view subcommands;
  ShellEffect effect = ShellEffect::kUnknown;
  Operands operands = Operands::kNone;
  /// See option.h. Of what reads or writes files all that are known: with another one it is not
  /// known what the program does. Of the others those that matter.
  std::string_view options;
};

/// The rows of what only reads.
std::span<const ProgramRow> ReaderRows();

/// The options that may stand before a subcommand: what is not listed there hides which subcommand
/// it is.
std::string_view GlobalOptions(std::string_view program);

/// The row for a program and its first two operands; null: it is not known.
const ProgramRow* FindProgram(std::string_view program, std::string_view first,
                              std::string_view second);

}  // namespace stet::policy
