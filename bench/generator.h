// Generator: writes realistic sessions of any size through the real log, for benchmarks and tests.
//
// The same seed gives the same bytes, but for the pid and the program's version in `opened`.
// Relaxed durability: a generated session may be lost in a power cut. Fails as the log does.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/session_player.h"

namespace stet::bench {

struct GenerateOptions {
  std::uint64_t bytes = 0;  // Stops once the log is so large; 0: no bound.
  std::uint64_t events =
      0;  // Stops once it holds so many events; 0: no bound. One of the two is needed.
  std::uint64_t seed = 1;
  PlayerOptions player;
};

struct Generated {
  std::string session_id;
  std::string dir;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

/// Makes the session's folder under `parent`, named by a session id that the seed decides.
Result<Generated> GenerateSession(const std::string& parent, const GenerateOptions& options);

}  // namespace stet::bench
