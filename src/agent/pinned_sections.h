// Sections of instruction files that are marked as pinned: "## Rules [pinned]". What stands there
// crosses every compaction byte for byte.
#pragma once

#include <string_view>
#include <vector>

#include "base/random.h"
#include "protocol/conversation.h"
#include "protocol/run_facts.h"

namespace stet::agent {

/// The sections of a Markdown text whose heading ends with "[pinned]", each from its heading to the
/// next one of the same or a higher level. One inside another is part of that. Headings are those
/// that begin with #, outside fenced code.
std::vector<std::string_view> PinnedSections(std::string_view markdown);

/// A pin for each of them, from the instruction files that the snapshot has. What does not fit
/// (agent/pins.h) is not pinned; the instructions say it all the same.
std::vector<protocol::Pin> PinsIn(const protocol::InstructionSnapshot& snapshot, Random& random);

}  // namespace stet::agent
