// `stet -p`: one turn without a terminal. The answer goes to stdout, everything else to stderr.
#pragma once

#include "base/result.h"
#include "face/clients.h"
#include "face/console.h"
#include "face/work_options.h"

namespace stet::cli {

/// The exit code, or why it failed.
Result<int> RunPrint(const face::WorkOptions& options, const face::Clients& clients,
                     face::Console& console);

}  // namespace stet::cli
