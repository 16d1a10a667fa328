// JSON-RPC as the Agent Client Protocol speaks it: rpc/json/lines.h, and the names that the
// protocol has for our errors.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "rpc/json/lines.h"

namespace stet::acp {

using rpc::Fault;
using rpc::Notification;
using rpc::Request;

/// The code under which the protocol knows an error of ours.
std::int64_t RpcCode(Code code);

/// Answers a request with an error, and our own name for it.
void RefuseWith(rpc::JsonLines& line, const Raw& id, const Error& error);

}  // namespace stet::acp
