// Metrics: what a host counts of itself, for Prometheus.
#pragma once

#include <cstdint>

namespace stet::host {

struct Metrics {
  std::uint64_t connections = 0;  // Ever accepted.
  std::uint64_t refused = 0;      // Handshakes.
  std::uint64_t requests = 0;
  std::uint64_t failed_requests = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t sent_away = 0;  // Clients that took nothing.
};

/// What this process holds in memory.
std::uint64_t ResidentBytes();

}  // namespace stet::host
