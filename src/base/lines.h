// Lines of a text.
#pragma once

#include <string_view>
#include <vector>

namespace stet {

/// Without their ends. A text that ends with a line end has no empty line behind it.
std::vector<std::string_view> SplitLines(std::string_view text);

}  // namespace stet
