// The settings of a session: the user's, with those of the project over them as far as it is
// trusted.
#pragma once

#include "config/roots.h"
#include "config/settings.h"
#include "protocol/device.h"

namespace stet::device {

struct LayeredSettings {
  config::Settings all;  // What holds. Its [policy] is the user's.
  config::Settings own;  // The project's trusted part alone.
  protocol::TrustReport trust;
};

/// kInvalid says what is wrong in which file; kDenied when a project wants a key of the user's sent
/// where the user did not say.
Result<LayeredSettings> ReadLayeredSettings(const config::Roots& roots, const std::string& project);

/// What to tell the user who opens the project: what it brings that is not used. Empty: nothing.
std::string TrustNote(const protocol::TrustReport& report);

}  // namespace stet::device
