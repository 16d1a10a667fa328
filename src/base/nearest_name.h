// Which of the names that there are may have been meant by one that there is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stet {

/// How many letters must be put in, left out, changed or swapped with the next.
std::size_t LetterDistance(std::string_view a, std::string_view b);

/// The one of `names` that begins with `name` or differs from it in at most two letters, and not in
/// all that it has; empty when none does.
std::string NearestName(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace stet
