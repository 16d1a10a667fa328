// LaneParts: what a lane is made of, once it is open: the session's log and workbench, and the
// parts that do one thing each with it. Owned by the lane; a part refers only to those above it
// here.
#pragma once

#include <memory>

#include "agent/asks.h"
#include "agent/session_tools.h"
#include "agent/workbench.h"
#include "lane/changes.h"
#include "lane/hooks.h"
#include "lane/instructions.h"
#include "lane/marks.h"
#include "lane/setup.h"
#include "lane/side_work.h"
#include "lane/tasks.h"
#include "lane/turn_reports.h"

namespace stet::lane {

struct LaneParts {
  explicit LaneParts(LaneSetup given);

  LaneSetup setup;  // What is not used up by opening the lane.
  agent::Asks asks;
  agent::SessionTools tools;
  agent::Workbench bench;
  LaneChanges changes;
  TurnReports reports;
  LaneHooks hooks;
  // These need the lane's turns, and are made when there are some.
  std::unique_ptr<LaneTasks> tasks;
  std::unique_ptr<LaneMarks> marks;
  std::unique_ptr<SideWork> side;
  std::unique_ptr<LaneInstructions> instructions;
};

}  // namespace stet::lane
