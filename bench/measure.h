// Measurements: how long, how much memory, one JSON line each.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/fs.h"

namespace stet::bench {

class Stopwatch {
 public:
  [[nodiscard]] double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The most memory that this process has had in RAM since its exec, in KB.
inline std::uint64_t PeakRssKb() {
  const Result<std::string> status = ReadFile("/proc/self/status");
  if (!status) return 0;
  const std::size_t at = status->find("VmHWM:");
  return at == std::string::npos ? 0 : std::strtoull(status->c_str() + at + 6, nullptr, 10);
}

inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace stet::bench
