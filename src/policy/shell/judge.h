// What one simple command does, by its words. Pure.
#pragma once

#include "policy/shell/shell.h"

namespace stet::policy {

/// Fills the effect, the paths and the reason, from words, assignments, redirections and folders.
void JudgeCommand(ShellCommand& command, const ShellPlace& place);

/// The name by which a program is known: without the folder where systems keep theirs. Empty when
/// it is not known, or some other folder's.
std::string ProgramName(const ShellCommand& command);

/// Whether a variable of that name may change which programs other programs run.
bool IsOddVariable(std::string_view name);

/// Whether an assignment names no program, no path and no module: from a fixed list, with a plain
/// value.
bool IsPlainAssignment(const ShellAssignment& assignment);

/// Raises the effect to at least this one. The reason of the worst stays.
void Raise(ShellCommand& command, ShellEffect effect, std::string why);

/// The programs with code of their own; false: it is none of them.
bool JudgeBuiltin(ShellCommand& command);  // What sets variables, evaluates, changes the shell.
bool JudgeGit(ShellCommand& command, const ShellPlace& place);
bool JudgeEditor(ShellCommand& command);    // sed, awk
bool JudgeFind(ShellCommand& command);      // find, fd
bool JudgeTransfer(ShellCommand& command);  // tar, curl, wget, rsync, dd
bool JudgeInterpreter(ShellCommand& command, const ShellPlace& place);  // Shells, python, node, ...

bool JudgeDatabase(ShellCommand& command);  // sqlite3, psql, ...

/// Adds what a word names to a list of paths.
void AddPaths(std::vector<ShellPath>& to, const ShellWord& word, const ShellCommand& command,
              ShellPath::Reach reach = ShellPath::Reach::kExact);

}  // namespace stet::policy
