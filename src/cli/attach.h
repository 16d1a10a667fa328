// `stet attach [SESSION]`: takes part in a session of the background host, as others may at the
// same time. What was seen of it the last time is shown at once. One that another process works on
// is only watched.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/terminal.h"
#include "client/device.h"
#include "client/remote_live.h"
#include "client/sessions.h"

namespace stet::cli {

/// Whom it asks; the host is reached, or started, when something is shown already.
struct AttachClients {
  client::Sessions& sessions;
  client::Device& device;
  std::function<Result<std::unique_ptr<client::RemoteLive>>()> host;
};

/// The exit code, or why it failed.
Result<int> RunAttach(const AttachCommand& command, const AttachClients& clients,
                      Terminal& terminal);

}  // namespace stet::cli
