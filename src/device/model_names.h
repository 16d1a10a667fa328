// From the name that a log gives a model to how the configuration calls it now.
#pragma once

#include <string>

#include "config/settings.h"

namespace stet::device {

/// What to ask SelectModel for, to get the model whose full name is `name`. Empty: the configured
/// one is it.
std::string AskedFor(const config::Settings& settings, const std::string& name);

}  // namespace stet::device
