// What every exchange over the network needs: headers, and clocks, because no wait is without one.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stet::net {

/// In the order they are sent; of replies, names are in lower case.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct Clocks {
  std::chrono::milliseconds connect{10'000};       // Name, connection and TLS.
  std::chrono::milliseconds first_byte{120'000};   // From sending on until the body begins.
  std::chrono::milliseconds idle_warn{30'000};     // Between bytes of the body: say so.
  std::chrono::milliseconds idle_fail{90'000};     // Between bytes of the body: give up.
  std::optional<std::chrono::milliseconds> whole;  // Absent: it may go on as long as it moves.
  friend bool operator==(const Clocks&, const Clocks&) = default;
};

}  // namespace stet::net
