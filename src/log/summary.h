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

/// What a list's row carries of a name that users or models chose; the log has it whole.
inline constexpr std::size_t kMaxTitleBytes = 200;
/// Of a folder's path. A longer one is cut, so that thousands of rows fit into one answer.
inline constexpr std::size_t kMaxPathBytes = 1024;

/// Cuts every text to these, between characters.
void Bound(SessionSummary& summary);

/// Bounded, as what ReadSummary gives.
SessionSummary MakeSummary(const protocol::Header& header, const Index& index);
Status WriteSummary(const Paths& paths, const SessionSummary& summary);
/// kNotFound when there is none, kInvalid when it is damaged.
Result<SessionSummary> ReadSummary(const Paths& paths);

/// A header for a log that lost its own, from the folder's name and the summary.
protocol::Header RebuildHeader(const Paths& paths);

}  // namespace stet::log
