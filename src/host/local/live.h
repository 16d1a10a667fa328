// Live sessions in this process: a thread runs the loop with their lanes; faces call from theirs.
#pragma once

#include <memory>
#include <string_view>

#include "client/live.h"
#include "config/roots.h"

namespace stet::host {

/// Starts nothing until a session is attached.
std::unique_ptr<client::Live> MakeLocalLive(config::Roots roots, std::string_view face);

}  // namespace stet::host
