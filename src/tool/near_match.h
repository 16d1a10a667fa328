// Why a text was not found in a file: what comes nearest to it, for the model to correct itself.
// Pure; bounded in work.
#pragma once

#include <string>
#include <string_view>

namespace stet::tool {

/// `text` and `wanted` have "\n" line ends, and `wanted` is not in `text`.
std::string ExplainNoMatch(std::string_view text, std::string_view wanted);

}  // namespace stet::tool
