// What came of a turn: plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"
#include "protocol/session.h"

namespace stet::protocol {

struct DenialRow {
  STET_FIELDS(DenialRow, (Text, tool_name), (Text, tool_call_id), (Raw, args), (Text, rule))
};
using DenialRows = std::vector<DenialRow>;

struct TurnReport {
  STET_FIELDS(TurnReport,
              (Text, session_id),
              (Text, turn_id),
              (Text, reason),  // One of agent::ended.
              (OptionalText, error),
              (OptionalText, failure),  // The kind of the model's failure.
              (Text, text),  // What the model said last.
              (OptionalRaw, output),  // That fits the schema, when one was given.
              (OptionalText, stop_reason),
              (std::int64_t, steps),
              (std::int64_t, duration_ms),
              (std::int64_t, model_ms),  // Of which waiting for models.
              (Text, model),
              (std::int64_t, context_window),
              (std::int64_t, max_output),
              (CostSum, cost),
              (DenialRows, denials))
};

}  // namespace stet::protocol
