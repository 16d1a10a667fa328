// Finding processes by a mark in their environment, which all that they start inherit: for tests of
// what is left behind.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fs.h"

namespace stet {

/// Zombies do not count: they have no environment any more. `variable` is "NAME=value".
inline std::vector<pid_t> ProcessesWith(const std::string& variable) {
  std::vector<pid_t> found;
  const std::vector<DirEntry> entries = ListDir("/proc").value();
  for (const DirEntry& entry : entries) {
    pid_t pid = 0;
    const char* end = entry.name.data() + entry.name.size();
    if (std::from_chars(entry.name.data(), end, pid).ptr != end) continue;
    const std::string all = '\0' + ReadFile("/proc/" + entry.name + "/environ").value_or("") + '\0';
    if (all.find('\0' + variable + '\0') != std::string::npos) found.push_back(pid);
  }
  return found;
}

/// Waits until no such process is left and gives none; at the deadline, those that are left.
inline std::vector<pid_t> AwaitNone(const std::string& variable, Deadline deadline) {
  for (;;) {
    std::vector<pid_t> found = ProcessesWith(variable);
    if (found.empty() || deadline.Passed()) return found;
    constexpr int kLookAgainMs = 10;
    ::poll(nullptr, 0, kLookAgainMs);
  }
}

}  // namespace stet
