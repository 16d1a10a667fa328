// The result of a turn in the members that scripts look for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "protocol/run_report.h"
#include "protocol/turn_report.h"

namespace stet::face {

/// What the turns of this process came to, by model.
struct ModelSpent {
  protocol::CostSum cost;
  std::int64_t context_window = 0;
  std::int64_t max_output = 0;
};
using Spent = std::map<std::string, ModelSpent>;
void AddTo(Spent& spent, const protocol::TurnReport& report);

/// What a result says beside the turn's own report.
struct ResultMore {
  std::optional<std::int64_t> queued;      // Messages that wait behind the turn.
  std::optional<protocol::RunReport> run;  // Told only when there is something in it.
};

/// One line of JSON, without its end. `spent` has the report in it already.
std::string ResultJson(const protocol::TurnReport& report, const Spent& spent,
                       const ResultMore& more = {});

/// How the process ends that ran the turn.
int ExitCodeOf(const protocol::TurnReport& report);

}  // namespace stet::face
