// What is known about a session's requests to its model: plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"

namespace stet::protocol {

/// One request that a session made, made again from its log.
struct ReplayRow {
  STET_FIELDS(ReplayRow,
              (Text, call_id),
              (Text, turn_id),
              (Text, purpose),
              (Text, model),
              (Text, dialect),
              (Text, verdict),  // same, different, or not_compared
              (Text, why),  // When it is not the same.
              (Text, recorded_hash),
              (Text, hash),
              (std::int64_t, bytes))
};

struct ReplayReport {
  STET_FIELDS(ReplayReport,
              (Text, session_id),
              (std::int64_t, same),
              (std::int64_t, different),
              (std::int64_t, not_compared),
              (std::vector<ReplayRow>, requests))
};

/// A part of the next request.
struct ContextPart {
  STET_FIELDS(ContextPart,
              (Text, name),  // system.baseline, tools, user, assistant, tool results, reminders
              (std::int64_t, count),
              (std::int64_t, bytes),
              (std::int64_t, tokens))  // Estimated.
};
using ContextParts = std::vector<ContextPart>;

struct ContextWanted {
  STET_FIELDS(ContextWanted,
              (bool, count),  // By the model's server, which is asked.
              (bool, wire))  // The request itself.
};

struct ContextReport {
  STET_FIELDS(ContextReport,
              (Text, session_id),
              (Text, model),
              (Text, dialect),
              (std::int64_t, context_window),
              (std::int64_t, threshold),  // From so many tokens on it is compacted.
              (std::int64_t, bytes),  // Of the whole request.
              (std::int64_t, tokens),  // Estimated, of the whole request.
              (OptionalInt, error_permille),  // How far off the estimate of the last one was.
              (OptionalInt, counted),  // By the server, when that was wanted.
              (ContextParts, parts),
              (OptionalInt, cached),  // Tokens that the server is expected to have in its cache.
              (OptionalInt, last_tokens),  // What the last request had, as the server counted.
              (OptionalInt, last_bytes),  // Of its prompt.
              (OptionalInt, same_bytes),  // How much of that this one begins with.
              (OptionalText, cause),  // Why it is not all of it.
              (OptionalInt, cost),  // Micro-units: what that is estimated to cost.
              (OptionalText, body))  // When the request itself was wanted.
};

}  // namespace stet::protocol
