// `stet setup`: chooses the model that is used when no other is asked for, and tries it.
#pragma once

#include "base/result.h"
#include "cli/verb.h"
#include "client/device.h"
#include "client/models.h"
#include "face/console.h"

namespace stet::cli {

struct SetupArguments {
  std::string provider;
  std::string model;
  std::string key_variable;
  bool yes = false;  // Takes what is not given by default, and replaces.
};

/// Asks on stderr and reads lines from stdin, which may be piped; flags answer beforehand. Nothing
/// is replaced unasked. The exit code, or why it failed.
Result<int> RunSetup(const SetupArguments& command, client::Models& models, client::Device& device,
                     face::Console& console);

/// What a verb runs that sets up.
std::function<Result<int>(const VerbEnvironment&)> SetsUp(std::shared_ptr<SetupArguments> given);

}  // namespace stet::cli
