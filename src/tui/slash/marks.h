// The commands about what is pinned, snipped and gated, and where the run stands.
#pragma once

#include <string>

#include "tui/command_environment.h"

namespace stet::tui {

void RunPin(const std::string& text, CommandEnvironment& environment);
void RunPins(const std::string&, CommandEnvironment& environment);
void RunUnpin(const std::string& id, CommandEnvironment& environment);

/// Without an id, the turns that can be named.
void RunSnip(const std::string& id, CommandEnvironment& environment);
void RunUnsnip(const std::string& id, CommandEnvironment& environment);

/// `argument`: nothing, "NAME EVIDENCE", "clear ID" or "waive ID WHY".
void RunGate(const std::string& argument, CommandEnvironment& environment);
void RunQuestions(const std::string&, CommandEnvironment& environment);
/// Enters plan mode when the session is in another one; then shows where the run stands.
void RunPlan(const std::string&, CommandEnvironment& environment);

}  // namespace stet::tui
