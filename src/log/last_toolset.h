// The toolset that a session goes on with, as its log says.
#pragma once

#include <optional>

#include "log/log.h"

namespace stet::log {

struct LastToolset {
  protocol::Toolset toolset;
  /// The `toolset` event that says so. kNone: the log is older than those, and this is what the
  /// last request of a turn had, with neither cause nor window.
  Ordinal event = kNone;
};

/// The last one, whatever the leaf is. Nothing when no model was ever shown tools. Fails when an
/// event cannot be read.
Result<std::optional<LastToolset>> FindLastToolset(const Log& log);

}  // namespace stet::log
