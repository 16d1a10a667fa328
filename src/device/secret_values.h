// The values that are no business of any log: keys in the environment, in the vault, and in headers
// that are configured.
#pragma once

#include <string>
#include <vector>

#include "agent/redactor.h"
#include "base/environment.h"
#include "base/result.h"
#include "config/roots.h"
#include "config/settings.h"

namespace stet::device {

struct SecretSources {
  const config::Roots& roots;
  const config::Settings& settings;
  const Environment& environment;
  const std::vector<std::string>& key_variables;  // Names.
};

/// Takes all of them out of texts. Fails as the vault does.
Result<agent::Redactor> RedactorOf(const SecretSources& sources);

/// The same where no session is open: by the user's own configuration and this process's variables.
Result<agent::Redactor> RedactorOf(const config::Roots& roots);

}  // namespace stet::device
