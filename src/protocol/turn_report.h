// What a face asks to be done, and what came of it: plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"
#include "protocol/session.h"

namespace stet::protocol {

/// One submission.
struct Submission {
  STET_FIELDS(Submission,
              (Text, text),
              (Text, cwd),
              (OptionalText, session_id),  // Absent: a new session.
              (Text, model),  // As asked for; empty: the configured one.
              (OptionalText, effort),
              (Text, mode),  // Of permissions; empty: default.
              (Text, allowed),  // Rules, as on the command line.
              (Text, disallowed),
              (Text, append_system_prompt),
              (std::int64_t, max_steps))  // 0: no limit.
};

struct DenialRow {
  STET_FIELDS(DenialRow, (Text, tool_name), (Text, tool_call_id), (Raw, args), (Text, rule))
};
using DenialRows = std::vector<DenialRow>;

struct TurnReport {
  STET_FIELDS(TurnReport,
              (Text, session_id),
              (Text, reason),  // completed, cancelled, max_turns, refused, overflow, error
              (OptionalText, error),
              (OptionalText, failure),  // The kind of the model's failure.
              (Text, text),  // What the model said last.
              (std::int64_t, steps),
              (std::int64_t, duration_ms),
              (Text, model),
              (CostSum, cost),
              (DenialRows, denials))
};

}  // namespace stet::protocol
