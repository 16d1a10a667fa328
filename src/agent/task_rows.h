// The tasks of a session as its log has them: a projection of its `task` events.
#pragma once

#include <string>

#include "base/result.h"
#include "log/log.h"
#include "protocol/tasks.h"

namespace stet::agent {

/// In the order of their start. One without an end is `running`: whether its process still lives,
/// the log cannot say.
Result<protocol::TaskRows> ReadTasks(const log::Log& log);

/// The row of this task. kNotFound, with the ids that there are.
Result<protocol::TaskRow> FindTask(const protocol::TaskRows& rows, const std::string& task_id);

/// A number that no task of the session has. In a copy of a session it begins behind the results
/// that were copied, so that its first tasks are not called what those speak of.
std::int64_t NextTaskNumber(const log::Log& log, const protocol::TaskRows& rows);

}  // namespace stet::agent
