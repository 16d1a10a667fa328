// Tar: the program tar, which packs what users take. Its environment is ours alone: nothing
// that a user set for tar changes what it does.
#pragma once

#include <string>

#include "base/result.h"

namespace stet::store {

/// Writes the folder `name` in `parent` to a new tar.
Status PackTar(const std::string& tar, const std::string& parent, const std::string& name);

}  // namespace stet::store
