// Clone: a new session that begins as a copy of one path of another, independent of it from then
// on. The rules of what is copied are in doc/format/log.md ("Clone").
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "log/log.h"

namespace stet::log {

struct CloneTarget {
  std::string dir;         // The new session's folder; must not exist, or be unborn.
  std::string session_id;  // The new session's id.
  std::string device_id;
};

/// Copies what leads to event `at` (the leaf when absent), which may be inside a step: calls open
/// there are answered in the copy as not run. The new folder appears complete, flushed, or not at
/// all.
Status Clone(Log& source, const std::optional<std::string>& at, const CloneTarget& target,
             const Options& options);

}  // namespace stet::log
