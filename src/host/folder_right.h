// Which folders a client may name: without the right admin it is held to the projects that the
// device knows, so that no token that is lost opens more than those.
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
