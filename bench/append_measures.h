// How fast a log takes events. Each measurement makes a session at `dir`, prints one JSON line, and
// removes the session.
#pragma once

#include <string>

#include "base/result.h"

namespace stet::bench {

/// One producer, `batch_size` small events per Append, relaxed.
Status MeasureRelaxedAppend(const std::string& dir, std::size_t batch_size);
/// One producer, relaxed, with the events of another session.
Status MeasureMixedAppend(const std::string& dir, const std::string& session);
/// Strict: how many flushes the appends of so many producers cost.
Status MeasureStrictAppend(const std::string& dir, int producers);

}  // namespace stet::bench
