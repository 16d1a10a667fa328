// Images that models can be shown.
#pragma once

#include <cstddef>
#include <string_view>

namespace stet::tool {

/// The most that providers take.
inline constexpr std::size_t kMaxImageBytes = std::size_t{5} << 20;

/// By its first bytes: "image/png", "image/jpeg", "image/gif", "image/webp"; empty for anything
/// else.
std::string_view ImageType(std::string_view bytes);

}  // namespace stet::tool
