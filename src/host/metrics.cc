#include "host/metrics.h"

#include <cstdlib>
#include <string>

#include <unistd.h>

#include "base/fs.h"

namespace stet::host {

std::uint64_t ResidentBytes() {
  const std::string text = ReadFile("/proc/self/statm").value_or("");
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return 0;
  const auto pages = std::strtoull(text.c_str() + blank, nullptr, 10);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace stet::host
