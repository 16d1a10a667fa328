// A command in a terminal of the client's editor: outside our guard and any sandbox, in sight of
// the person who uses the editor. It is waited for, and stopped at its timeout or when the call is
// cancelled; the terminal is released in any case, and stays visible in the editor.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tool/shell/shell.h"
#include "tool/tool.h"

namespace stet::tool {

/// No command is waited for longer there.
inline constexpr std::chrono::seconds kMaxTerminalTime{600};

struct TerminalRequest {
  std::string command;
  std::vector<std::string> hidden;     // Variables that it does not get, whatever the editor has.
  std::vector<std::string> variables;  // "NAME=value": beside the editor's own.
  std::optional<std::chrono::seconds> timeout;
};

struct TerminalRan {
  ShellHow how;
  std::string stopped;   // Why, when how says kStopped: also when its end is not known.
  std::string note;      // A line about its output; empty: nothing to say.
  std::string ended_in;  // Where bash was at its end; empty when it did not say.
  ShellOutput output;
};

/// Fails when the command was not started, as far as the editor says. `request` and `call` must
/// outlive the task.
Async<Result<TerminalRan>> RunInTerminal(const TerminalRequest& request, Call& call);

}  // namespace stet::tool
