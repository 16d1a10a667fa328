// Draws a session's tree: straight runs are a column, forks open branches, the leaf is marked.
#pragma once

#include <string>

#include "face/console.h"
#include "protocol/session.h"

namespace stet::cli {

/// `all`: a line per event; else a line per user message, compaction, fork and branch end, and the
/// rest counted.
std::string TreeText(const protocol::SessionTree& tree, bool all, const face::Console& console);

}  // namespace stet::cli
