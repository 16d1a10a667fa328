// What a user means who typed an id, or the beginning of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::store {

/// The one of `ids` that is `typed`, else the only one that begins with it. kNotFound with `hint`,
/// kConflict naming the candidates.
Result<std::string> OneMeant(const std::vector<std::string>& ids, std::string_view typed,
                             std::string_view hint);

}  // namespace stet::store
