// Restore: what a session did to files after some event, and putting them back as they were.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/log.h"
#include "protocol/turn_report.h"

namespace stet::lane {

/// Where files may be put back.
struct RestoreBounds {
  std::vector<std::string> roots;  // The project's folder and those added to it.
  /// The first seq of this device's events: what another device says of files is only shown.
  std::uint64_t own_since = 0;
};

/// Every file that was written or deleted after `target` in the file's order, whatever the branch
/// (absent: ever). With `restore`, files are put back whose earlier content is kept and that
/// nothing but the session has changed since; each is announced by a write fact first, so that this
/// can be undone as well. No file outside of the bounds is touched, and no link followed.
Result<protocol::FileRows> FilesSince(log::Log& log, const RestoreBounds& bounds,
                                      const std::optional<std::string>& target, bool restore);

}  // namespace stet::lane
