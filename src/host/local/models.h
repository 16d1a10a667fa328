// The models as this process sees them: the catalogue, the user's configuration, the environment.
#pragma once

#include <memory>

#include "client/models.h"
#include "config/roots.h"

namespace stet::host {

std::unique_ptr<client::Models> MakeLocalModels(const config::Roots& roots);

/// What they list, for code that may wait for the disk.
Result<protocol::ModelList> ListModels(const config::Roots& roots);

}  // namespace stet::host
