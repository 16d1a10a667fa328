// Base64 with padding, as images and tokens travel in JSON. Pure; nothing here fails.
#pragma once

#include <string>
#include <string_view>

namespace stet {

void AppendBase64(std::string& out, std::string_view bytes);

}  // namespace stet
