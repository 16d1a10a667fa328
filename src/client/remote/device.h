// The device of a host in another process, over its socket: what only reads is asked of the host,
// and answered as calls of a RemoteLive are.
//
// What changes the device (models, trust, the vault), has a secret in its answer, needs this
// process's terminal (the sandbox) or is the face's own (its settings) is kUnsupported: it is done
// on the device itself.
#pragma once

#include <chrono>
#include <memory>

#include "client/device.h"
#include "client/remote/live.h"

namespace stet::client {

/// `host` outlives it. Every call ends within this time.
std::unique_ptr<Device> MakeRemoteDevice(
    RemoteLive& host, std::chrono::milliseconds within = std::chrono::seconds(30));

}  // namespace stet::client
