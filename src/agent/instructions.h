// Instructions: what a session is told once, before its first message, and keeps. Six sections in a
// fixed order, with their sources; the rendered prompt is the same bytes at every step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/conversation.h"

namespace stet::agent {

struct InstructionSources {
  std::string cwd;
  std::string home;               // Outside a repository, the search for AGENTS.md ends before it.
  std::string user_instructions;  // The user's own AGENTS.md; may be missing.
  std::string appended;           // --append-system-prompt.
  std::optional<std::string> baseline = {};  // In place of our own.
  /// Names of files that are read, in this order, where a folder has no AGENTS.md.
  std::vector<std::string> fallback = {};
  std::int64_t context_window = 200'000;
  /// Whether a file of the project, by its real path, may be shown unasked. Null: each may.
  std::function<bool(const std::string& path)> may_read = nullptr;
};

/// Instruction files that are there and are not used, with the reason: links that lead out of the
/// project or to what is kept from sight, what is too large, and what is no text. For the user.
std::vector<std::string> UnusedInstructions(const InstructionSources& sources);

/// Takes the snapshot. Files of the project are read without following a link out of it. What is
/// not used is said in its section; the whole stays within 15 % of the window, the farthest
/// AGENTS.md being cut first.
protocol::InstructionSnapshot TakeSnapshot(const InstructionSources& sources, const Clock& clock);

/// The system prompt: the sections that say something, in order.
std::vector<std::string> RenderSnapshot(const protocol::InstructionSnapshot& snapshot);

/// The nearest folder upward that has a .git; empty outside a repository.
std::string GitRoot(const std::string& cwd);

}  // namespace stet::agent
