// The program's version, as the build names it.
#pragma once

#include <string_view>

namespace stet {

std::string_view ProgramVersion();

}  // namespace stet
