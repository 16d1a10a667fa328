// Names as the SDKs of other agents spell them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace stet::face {

/// A UUID (version 8) made from `name`: the same name has the same one.
std::string UuidFrom(std::string_view name);

/// Why a reply ended, as Anthropic's API spells it.
std::string_view StopReasonName(std::string_view reason);

}  // namespace stet::face
