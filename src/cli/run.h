// Run: the command line face. Parses the arguments, asks the client, prints the answer.
#pragma once

#include <functional>
#include <memory>

#include "client/sessions.h"

namespace stet::cli {

/// Made only when a command needs it: `--version` and `--help` touch nothing.
using SessionsFactory = std::function<Result<std::unique_ptr<client::Sessions>>()>;

/// The process's exit code.
int Run(int argc, const char* const* argv, const SessionsFactory& sessions);

}  // namespace stet::cli
