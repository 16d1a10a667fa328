// The end of a session on a screen, when it is attached to.
#pragma once

#include "client/transcript.h"
#include "tui/live_view/live_view.h"

namespace stet::tui {

/// How many of the last events are shown before what happens.
inline constexpr std::size_t kShownEvents = 12;

/// What is still to be shown, behind a line that says so when it does not simply go on. `view` is
/// of `scene`.
void ShowEvents(const client::Transcript::Rest& rest, client::Scene& scene, LiveView& view);

/// What was kept from the last time, at once, as plain lines.
void ShowKept(client::Transcript& transcript, face::Console& console);

}  // namespace stet::tui
