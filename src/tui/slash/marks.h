// The commands about what is pinned, snipped and gated, and where the run stands.
#pragma once

#include <string>

#include "tui/command_environment.h"

namespace stet::tui {

void RunPin(const std::string& text, Desk& desk);
void RunPins(const std::string&, Desk& desk);
void RunUnpin(const std::string& id, Desk& desk);

/// Without an id, the turns that can be named.
void RunSnip(const std::string& id, Desk& desk);
void RunUnsnip(const std::string& id, Desk& desk);

/// `argument`: nothing, "NAME EVIDENCE", "clear ID" or "waive ID WHY".
void RunGate(const std::string& argument, Desk& desk);
void RunQuestions(const std::string&, Desk& desk);
/// Enters plan mode when the session is in another one; then shows where the run stands.
void RunPlan(const std::string&, Desk& desk);

}  // namespace stet::tui
