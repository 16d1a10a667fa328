// The models as this process sees them: the catalogue, the user's configuration, the environment.
#pragma once

#include <memory>

#include "client/models.h"
#include "config/roots.h"

namespace stet::host {

std::unique_ptr<client::Models> MakeLocalModels(config::Roots roots);

}  // namespace stet::host
