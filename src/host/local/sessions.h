// LocalSessions: client::Sessions over the folders of this device, in this process. Owned by main.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/sessions.h"
#include "config/roots.h"

namespace stet::host {

/// Hears in one line what a user should know beside the answer; called before it, on a thread of
/// the sessions'.
using Teller = std::function<void(const std::string&)>;

/// What a host that runs must know of or knows better is asked of it: where the leaf is moved, what
/// is removed, tasks. What the log has as well is read from the log, and `tell` hears so, when the
/// host does not answer soon.
std::unique_ptr<client::Sessions> MakeLocalSessions(const config::Roots& roots, Teller tell = {});

}  // namespace stet::host
