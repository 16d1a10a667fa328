// `stet [PROMPT]`: a conversation at a terminal, by lines: what is said scrolls by, the prompt
// stays below it and takes text also while a turn runs.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/device.h"
#include "client/live.h"
#include "client/sessions.h"
#include "client/transcript.h"

namespace stet::cli {

/// Whom an interactive session asks; they outlive it.
struct InteractiveClients {
  client::Live& live;
  client::Sessions& sessions;
  client::Device& device;
  /// What was shown already of the session that is resumed; null: nothing was.
  client::Transcript* transcript = nullptr;
};

/// The exit code, or why it failed. Must run before any other thread is made: it watches signals.
/// Without a terminal it says what to use instead.
Result<int> RunInteractive(const WorkCommand& command, const InteractiveClients& clients,
                           Terminal& terminal);

}  // namespace stet::cli
