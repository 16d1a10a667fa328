// Commands that start other commands: sudo, env, timeout, xargs, `find -exec`, `bash -c`, eval,
// npx,
// ... and what they start. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "policy/shell/shell.h"

namespace stet::policy {

struct Unwrapped {
  std::vector<std::vector<ShellWord>> commands;  // Words, the program first.
  std::vector<std::string> scripts;              // Text for a shell.
  std::vector<ShellAssignment> assignments;      // For the commands.
  std::optional<ShellWord> folder;               // Where they run, when it says so.
  ShellEffect effect = ShellEffect::kReadOnly;   // Of starting them.
  bool privileged = false;
  bool unknown = false;  // What it starts cannot be told.
};

/// Nothing: it starts no other command.
std::optional<Unwrapped> Unwrap(const ShellCommand& command);

/// Whether the command of `find -exec` ends at this word: `;`, or a `+` right behind `{}`.
bool EndsExec(std::span<const ShellWord> words, std::size_t at);

/// Whether a wrapper changes nothing about what it starts: a rule for that covers both.
bool IsTransparent(std::string_view program);

}  // namespace stet::policy
