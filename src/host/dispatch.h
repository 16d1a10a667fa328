// Dispatch: the requests of the wire, by name: the one place where rights are checked and handlers
// are found.
#pragma once

#include <string_view>

#include "base/async.h"
#include "host/handler.h"

namespace stet::host {

/// kDenied without the right, kUnsupported for an unknown method, kInvalid for params that do not
/// fit.
Async<Outcome> Dispatch(std::string_view method, Call call);

}  // namespace stet::host
