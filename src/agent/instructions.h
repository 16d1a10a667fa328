// Instructions: what a session is told once, before its first message, and keeps. Six sections in a
// fixed order, with their sources; the rendered prompt is the same bytes at every step.
#pragma once

#include <cstdint>
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
};

/// Takes the snapshot. What cannot be read is said in its section; the whole stays within 15 % of
/// the window, the farthest AGENTS.md being cut first.
protocol::InstructionSnapshot TakeSnapshot(const InstructionSources& sources, const Clock& clock);

/// The system prompt: the sections that say something, in order.
std::vector<std::string> RenderSnapshot(const protocol::InstructionSnapshot& snapshot);

/// The nearest folder upward that has a .git; empty outside a repository.
std::string GitRoot(const std::string& cwd);

}  // namespace stet::agent
