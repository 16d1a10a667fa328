// Where tests find the repository's documents and data.
#pragma once

#include <string>

namespace stet {

/// The repository's folder. Defined once for each test program, in tests/main.cc: a compiler's
/// cache then serves every clone.
std::string SourceDir();

}  // namespace stet
