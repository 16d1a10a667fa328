// Summary: what a list of sessions shows, kept as summary.json beside the log so that listing never
// parses logs. A projection: written by the process that writes the log, made anew when it is
// missing or older than the log.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "log/index.h"
#include "log/paths.h"
#include "protocol/header.h"
#include "protocol/session.h"

namespace stet::log {

using protocol::SessionSummary;

SessionSummary MakeSummary(const protocol::Header& header, const Index& index);
Status WriteSummary(const Paths& paths, const SessionSummary& summary);
/// kNotFound when there is none, kInvalid when it is damaged.
Result<SessionSummary> ReadSummary(const Paths& paths);

/// A header for a log that lost its own, from the folder's name and the summary.
protocol::Header RebuildHeader(const Paths& paths);

}  // namespace stet::log
