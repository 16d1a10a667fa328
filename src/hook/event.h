// Event: what hooks can be told of, and Occasion, one time that it happens, with what is said of
// it. The members and their names are in doc/format/hooks.md. Plain values; nothing here fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.h"

namespace stet::hook {

/// In the order of config::kHookEvents.
enum class Event : std::uint8_t {
  kSessionStart,
  kSessionEnd,
  kUserPromptSubmit,
  kPreToolUse,
  kPostToolUse,
  kPostToolUseFailure,
  kPermissionRequest,
  kNotification,
  kPreCompact,
  kPostCompact,
  kSubagentStart,
  kSubagentStop,
  kStop,
  kTaskCreated,
  kTaskCompleted,
  kTeammateIdle,
};

/// "PreToolUse".
std::string_view EventName(Event event);

/// What is the same for everything that happens at one moment.
struct Moment {
  std::string session_id;
  std::string transcript_path;
  std::string cwd;
  std::string permission_mode;
  std::string turn_id;  // Empty between turns.
};

struct Occasion {
  Event event;
  std::string subject;  // What matchers are compared with; empty: they do not matter.
  std::string members;  // Its own, as JSON without the braces.
};

/// A call, as hooks are told of it.
struct ToolFacts {
  std::string_view name;
  const Raw& input;
  std::string_view call_id;
};

Occasion OnSessionStart(std::string_view source, std::string_view model);
Occasion OnSessionEnd(std::string_view reason);
Occasion OnUserPromptSubmit(std::string_view prompt);
Occasion OnPreToolUse(const ToolFacts& call);
/// `details`, if not empty, is JSON.
Occasion OnPostToolUse(const ToolFacts& call, std::string_view content, std::string_view details);
Occasion OnPostToolUseFailure(const ToolFacts& call, std::string_view error, bool interrupted);
Occasion OnPermissionRequest(const ToolFacts& call, std::string_view reason);
Occasion OnNotification(std::string_view type, std::string_view message);
Occasion OnPreCompact(std::string_view trigger, std::string_view instructions);
Occasion OnPostCompact(std::string_view trigger, std::string_view summary);
Occasion OnStop(bool active, std::string_view last_message);
Occasion OnTaskCreated(std::string_view task_id, std::string_view command);
/// `how` it ended, and the end of its output.
Occasion OnTaskCompleted(std::string_view task_id, std::string_view how);

/// The one JSON object that a hook is given, without an end of line.
std::string InputOf(const Moment& moment, const Occasion& occasion);

}  // namespace stet::hook
