// RunMeasured: a program run to its end, and what it cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace stet::bench {

struct Cost {
  double wall_ms = 0;           // From its start until it is gone.
  double cpu_ms = 0;            // Its own and the system's for it.
  std::uint64_t rss_kb = 0;     // The most memory that it had in RAM.
  std::int64_t started_us = 0;  // On the steady clock, just before.
  std::string out;              // What it wrote to standard output.
};

/// `argv[0]` is looked up in PATH. kIo when the program cannot be started or does not end with 0.
Result<Cost> RunMeasured(const std::vector<std::string>& argv);

}  // namespace stet::bench
