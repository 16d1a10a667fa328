// Restore: what a session did to files after some event, and putting them back as they were.
#pragma once

#include <optional>
#include <string>

#include "log/log.h"
#include "protocol/turn_report.h"

namespace stet::lane {

/// Every file that was written or deleted after `target` in the file's order, whatever the branch
/// (absent: ever). With `restore`, files are put back whose earlier content is kept and that
/// nothing but the session has changed since; each is announced by a write fact first, so that this
/// can be undone as well.
Result<protocol::FileRows> FilesSince(log::Log& log, const std::optional<std::string>& target,
                                      bool restore);

}  // namespace stet::lane
