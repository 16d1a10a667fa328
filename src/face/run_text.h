// Where a run stands, as people and scripts are told.
#pragma once

#include <string>
#include <vector>

#include "json/writer.h"
#include "protocol/live.h"
#include "protocol/run_report.h"

namespace stet::face {

/// Gates and findings; what they want; empty when there are none.
std::string GatesText(const protocol::RunReport& report);
std::string QuestionsText(const protocol::RunReport& report);
/// Phase, promise, and what comes next.
std::string PlanText(const protocol::RunReport& report);
std::string PinsText(const protocol::RunPins& pins, std::size_t columns);
/// With the numbers that name them; `runs`: the newest one is not finished.
std::string TurnsText(const protocol::TurnRows& turns, bool runs, std::size_t columns);

/// Whether there is something that the reader of a result should know.
bool HasNews(const protocol::RunReport& report);
/// The member `run` of a result: what is open, what comes next, why it stopped.
void WriteRun(JsonWriter& writer, const protocol::RunReport& report);
/// The same in lines.
std::vector<std::string> RunLines(const protocol::RunReport& report);

}  // namespace stet::face
