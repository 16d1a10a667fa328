// Which tools a lane's session has: their sources, and the toolset that its model sees.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stet::agent {
struct Unfinished;
struct Workbench;
}  // namespace stet::agent

namespace stet::lane {

class LaneMarks;
class LaneTasks;
struct LaneSetup;

/// What the built-in tools work with; all of it outlives them.
struct ToolGround {
  agent::Workbench& bench;
  LaneTasks& tasks;
  LaneMarks& marks;
};

/// Adds the built-in tools, and the one that gives the answer where a schema is wanted. kInvalid
/// when that schema makes no sense.
Status AddTools(const ToolGround& ground, const LaneSetup& setup,
                const agent::Unfinished& unfinished);

/// When all sources have brought their tools; the log has the toolset before the first request that
/// follows. Gives what a face should say of it.
Result<std::vector<std::string>> OpenToolset(agent::Workbench& bench, const LaneSetup& setup,
                                             const agent::Unfinished& unfinished);

}  // namespace stet::lane
