// Tar: the program tar, run on what users bring and take. Its environment is ours alone: nothing
// that a user set for tar changes what it does.
#pragma once

#include <string>

#include "base/result.h"

namespace stet::store {

/// Writes the folder `name` in `parent` to a new tar.
Status PackTar(const std::string& tar, const std::string& parent, const std::string& name);

/// Unpacks a tar, compressed or not, into a folder. kInvalid when it is no tar, and when it is cut:
/// in a member, or behind one, so that the blocks are missing with which a tar ends.
Status UnpackTar(const std::string& tar, const std::string& into);

}  // namespace stet::store
