// `stet [PROMPT]`: a conversation at a terminal, by lines: what is said scrolls by, the prompt
// stays below it and takes text also while a turn runs.
#pragma once

#include "base/result.h"
#include "client/device.h"
#include "client/live.h"
#include "client/sessions.h"
#include "client/transcript.h"
#include "face/clients.h"
#include "face/console.h"
#include "face/work_options.h"

namespace stet::tui {

/// Whom an interactive session asks; they outlive it.
struct InteractiveClients {
  client::Live& live;
  client::Sessions& sessions;
  client::Device& device;
  /// What was shown already of the session that is resumed; null: nothing was.
  client::Transcript* transcript = nullptr;
};

/// A conversation, wherever the options have it worked on. The exit code, or why it failed. Must
/// run before any other thread is made: it watches signals. Without a terminal it says what to use
/// instead.
Result<int> RunConversation(const face::WorkOptions& options, const face::Clients& clients,
                            face::Console& console);

/// The same with clients that are there already.
Result<int> RunInteractive(const face::WorkOptions& options, const InteractiveClients& clients,
                           face::Console& console);

}  // namespace stet::tui
