// What a session would send next, and what is known of it before it is sent.
#pragma once

#include "config/settings.h"
#include "log/log.h"
#include "protocol/requests.h"
#include "provider/selection.h"

namespace stet::lane {

/// Without the message that the request will answer. Asks the model's server only when a count is
/// wanted: kUnsupported where it does not count, kAuth without a key, which is among `keys`.
Result<protocol::ContextReport> DescribeContext(log::Log& log, const config::Settings& settings,
                                                const provider::Environment& keys,
                                                const protocol::ContextWanted& wanted);

}  // namespace stet::lane
