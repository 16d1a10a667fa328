#include "base/private_process.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <unistd.h>

#include "base/fs.h"

namespace stet {
namespace {

/// The block that the kernel filled when the process began: what was replaced since stands in it
/// still. Where it lies is said in /proc/self/stat, behind the name, which may have anything in it.
void WipeShown() {
  constexpr int kStart = 47;  // Numbers behind the state: env_start is the 50th of proc(5).
  const Result<std::string> stat = ReadFile("/proc/self/stat", std::size_t{1} << 16);
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos || name_end + 4 > stat->size()) return;
  const char* at = stat->c_str() + name_end + 3;
  unsigned long ends[2] = {0, 0};
  for (int number = 1; number <= kStart + 1; ++number) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(at, &end, 10);
    if (end == at) return;
    if (number >= kStart) ends[number - kStart] = value;
    at = end;
  }
  if (ends[0] != 0 && ends[0] < ends[1])
    ::explicit_bzero(reinterpret_cast<void*>(ends[0]), ends[1] - ends[0]);
}

}  // namespace

void MakeProcessPrivate() {
  ::prctl(PR_SET_DUMPABLE, 0);
  if (environ == nullptr) return;
  // Never destroyed: variables are read until the process has ended.
  static auto* const kept = new std::vector<std::string>();
  static auto* const pointers = new std::vector<char*>();
  if (!kept->empty()) return;
  for (char** variable = environ; *variable != nullptr; ++variable) kept->emplace_back(*variable);
  for (std::string& variable : *kept) pointers->push_back(variable.data());
  pointers->push_back(nullptr);
  environ = pointers->data();
  WipeShown();
}

}  // namespace stet
