// Dispatch: the requests of the wire, by name: what right each needs and what it does.
#pragma once

#include <string>

#include "base/async.h"
#include "base/result.h"
#include "host/connection.h"

namespace stet::host {

class Host;

/// The result's JSON. kDenied without the right, kUnsupported for a method that there is not,
/// kInvalid for params that do not fit. `session.subscribe`, `unsubscribe` and `offer` are the
/// connection's.
Async<Result<std::string>> Dispatch(Host& host, Caller caller, std::string method,
                                    std::string params);

}  // namespace stet::host
