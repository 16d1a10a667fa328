// What the loop has to do with extensions: what they want in the log, what they would have done
// with the context, and what they hear.
#pragma once

#include <string>

#include "agent/workbench.h"
#include "base/async.h"
#include "base/cancel.h"
#include "hook/extension/extensions.h"

namespace stet::agent {

/// The session as its extensions have it; `bench` outlives it.
hook::ExtensionHost HostOf(Workbench& bench);

/// Tells them what is new in the conversation and appends what they want done with it. Between two
/// steps; without one that wants it, nothing. Fails when the log cannot be written, and with
/// kUnavailable when one that must be asked failed.
Async<Status> TransformContext(Workbench& bench, protocol::Stamp stamp, CancelToken cancel);

/// What they hear of an event: its type, and perhaps another name.
std::vector<std::string> NamesOf(const protocol::Event& event);

}  // namespace stet::agent
