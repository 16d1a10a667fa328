// `stet --output-format stream-json`: everything that happens as a line of JSON on stdout while it
// happens and, with `--input-format stream-json`, messages and control requests as lines on stdin
// while turns run. Other agents' SDKs drive stet through it.
//
// Every message gets exactly one `result`, be it an error; input that made no sense is told in one
// more at the end. When stdin ends, what runs and what is queued is finished; a reader of stdout
// that goes away ends it, with everything kept in the log.
#pragma once

#include "base/result.h"
#include "face/clients.h"
#include "face/console.h"
#include "face/work_options.h"

namespace stet::sdk {

/// The exit code of the last result, or why it failed.
Result<int> RunStreamJson(const face::WorkOptions& options, const face::Clients& clients,
                          face::Console& console);

}  // namespace stet::sdk
