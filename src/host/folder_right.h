// Which folders a client may name: a client that may approve reaches every folder through a session
// anyway; any other one is held to the projects that the device knows.
#pragma once

#include <string>

#include "base/result.h"
#include "config/roots.h"
#include "host/caller.h"

namespace stet::host {

/// kDenied for a folder of no known project, whether there is such a folder or not. kInvalid unless
/// it is named by its whole path.
Status MayName(const config::Roots& roots, const Caller& caller, const std::string& folder);

}  // namespace stet::host
