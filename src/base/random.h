// Random: a small deterministic generator (xoshiro256++), and the one place that asks the system
// for entropy.
//
// The same seed gives the same numbers on every machine and in every version. Not for secrets. A
// Random belongs to one thread at a time. Nothing here fails: without entropy from the system the
// process cannot go on and ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stet {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t Next();

  /// Uniform in [0, n), without bias; 0 when n is 0.
  std::uint64_t Below(std::uint64_t n);

 private:
  std::array<std::uint64_t, 4> state_;
};

/// 64 bits from getrandom(2).
std::uint64_t SystemSeed();

/// This thread's generator, seeded from the system at first use. A forked child goes on with its
/// parent's numbers; that is accepted because we never fork without exec.
Random& ProcessRandom();

/// `length` letters of 0-9 a-z without i, l, o, u: 5 bits each, safe in file names, no two alike to
/// the eye.
std::string RandomName(Random& random, std::size_t length);

}  // namespace stet
