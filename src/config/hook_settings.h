// HookSettings: [hooks] of a configuration file as data: what is run, asked or told when something
// happens in a session. What the words mean is in doc/format/hooks.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/describe.h"

namespace stet::config {

/// What hooks can be told of, as a file spells it.
inline constexpr std::array<std::string_view, 16> kHookEvents = {
    "SessionStart", "SessionEnd",         "UserPromptSubmit",  "PreToolUse",
    "PostToolUse",  "PostToolUseFailure", "PermissionRequest", "Notification",
    "PreCompact",   "PostCompact",        "SubagentStart",     "SubagentStop",
    "Stop",         "TaskCreated",        "TaskCompleted",     "TeammateIdle"};

/// One hook: which of the events it is for, and what it is.
struct HookSettings {
  enum class Kind { kCommand, kHttp, kPrompt };

  std::string event;    // One of kHookEvents.
  std::string matcher;  // Empty: every one.
  Kind kind = Kind::kCommand;
  std::string what;          // The command, the address or the prompt.
  std::int64_t timeout = 0;  // Seconds; 0: the event's own.
  std::uint32_t line = 0;    // Of the event in the file.

  friend bool operator==(const HookSettings&, const HookSettings&) = default;
};
using HookList = std::vector<HookSettings>;

/// "command", "http" or "prompt".
std::string_view HookKindName(HookSettings::Kind kind);

/// The hooks of a table {event: [{matcher, type, command | url | prompt, timeout}]}, in the order
/// of the file; several of one matcher may stand in a list `hooks` inside. kInvalid has the key
/// that is wrong as its context, for the caller to say where it stands.
Result<HookList> ReadHooks(std::string_view json);

}  // namespace stet::config
