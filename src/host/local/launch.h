// A host in the background, started by this program: a process in a session of its own that tells
// when it listens.
#pragma once

#include <chrono>
#include <string>

#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"
#include "config/roots.h"
#include "protocol/wire.h"

namespace stet::host {

/// How long one that is started may take until it listens.
inline constexpr std::chrono::seconds kStartTime{30};

/// The program itself, though its file may have been replaced since.
std::string OwnProgram();

/// Starts a host in the background, unless one is there by then; `ready` becomes readable when it
/// listens or has ended.
Result<pid_t> Launch(const config::Roots& roots, const protocol::HostLaunch& launch, Fd& ready);

/// Waits for that. False when it has ended, or its time is up.
bool AwaitReady(int ready_fd);

/// Why the one that was launched last does not run.
Error NotStarted(const config::Roots& roots);

}  // namespace stet::host
