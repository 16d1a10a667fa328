// `stet acp`: an agent of the Agent Client Protocol on stdin and stdout. doc/format/acp.md says
// what it can do.
//
// Standard output has nothing but messages, one a line. When the input ends, or on SIGTERM, what
// runs is cancelled and kept, and it ends with exit code 0.
#pragma once

#include "acp/agent.h"

namespace stet::acp {

/// The process's exit code.
int RunAcp(const Clients& clients);

}  // namespace stet::acp
