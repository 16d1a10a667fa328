#include "base/version.h"

namespace stet {

std::string_view ProgramVersion() { return STET_VERSION; }

}  // namespace stet
