// Summary: what a list of sessions shows, kept as summary.json beside the log so that listing never parses logs. A
// projection: written by whoever writes the log, made anew when it is missing or older than the log.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "log/index.h"
#include "log/paths.h"
#include "protocol/header.h"

namespace stet::log {

struct Summary {
  STET_FIELDS(Summary,
              (std::string, session_id),
              (std::string, title),  // Given, or the first prompt's first line.
              (std::string, project_id),
              (std::string, cwd),
              (std::string, model),
              (std::string, kind),
              (std::string, device_id),
              (std::int64_t, created_at),
              (std::int64_t, updated_at),
              (std::int64_t, user_messages),
              (std::int64_t, assistant_messages),
              (std::int64_t, tool_results),
              (protocol::OptionalText, parent_session_id),
              (protocol::OptionalOrigin, cloned_from),
              (std::uint64_t, log_bytes))  // Of the log that this was made from.
};

Summary MakeSummary(const protocol::Header& header, const Index& index);
Status WriteSummary(const Paths& paths, const Summary& summary);
/// kNotFound when there is none, kInvalid when it is damaged.
Result<Summary> ReadSummary(const Paths& paths);

/// A header for a log that lost its own, from the folder's name and the summary.
protocol::Header RebuildHeader(const Paths& paths);

}  // namespace stet::log
