// The tasks of sessions that no lane of this process works on, read from their folders. What runs
// there belongs to another process, or died with it.
#pragma once

#include <string>

#include "base/result.h"
#include "config/roots.h"
#include "log/log.h"
#include "protocol/tasks.h"

namespace stet::lane {

/// The most that is given of a task's output at once.
inline constexpr std::size_t kMaxTaskOutput = std::size_t{1} << 20;

/// What is in the folder of a session. A task that runs names the process that runs it; one whose
/// process is gone is lost, though its log does not say so yet: it ended when it was last heard of,
/// by its output or by the log.
Result<protocol::TaskRows> TasksIn(const std::string& session_dir);

/// Of a task that has ended: all that was kept; of one that runs, or whose process died: what is in
/// its file, which has the vault's values in it, without them.
Result<protocol::TaskOutput> TaskOutputIn(const config::Roots& roots,
                                          const protocol::TaskOutputParams& params);

/// Why it cannot be stopped from here. kBusy names the process that runs it, kConflict says that it
/// has ended, kNotFound that there is none.
Error WhyNotStopped(const std::string& session_dir, const std::string& task_id);

/// The part that `range` names, as text: at most kMaxTaskOutput bytes, of valid text whole
/// characters. An offset behind the end gives nothing.
protocol::TaskOutput TaskOutputOf(std::string_view bytes, bool running,
                                  const protocol::TaskRange& range = {});

/// The output of a task that has ended: from its blob. Empty when it wrote nothing.
Result<std::string> KeptOutput(const log::Blobs& blobs, const protocol::TaskRow& row);

}  // namespace stet::lane
