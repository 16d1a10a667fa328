#include "base/random.h"

#include <bit>
#include <cerrno>

#include <sys/random.h>

#include "base/result.h"

namespace stet {

// xoshiro256++ by Blackman and Vigna, its state filled by splitmix64 as they advise: similar seeds
// give unrelated streams and the state is never all zero.
Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::Next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::Below(std::uint64_t n) {
  if (n == 0) return 0;
  // The first 2^64 mod n values would make small results more likely: draw again.
  const std::uint64_t unfair = (0 - n) % n;
  std::uint64_t drawn = Next();
  while (drawn < unfair) drawn = Next();
  return drawn % n;
}

std::uint64_t SystemSeed() {
  std::uint64_t seed = 0;
  // A request of up to 256 bytes is never cut short, but a signal may come before entropy is ready.
  ssize_t got = 0;
  do {
    got = ::getrandom(&seed, sizeof seed, 0);
  } while (got < 0 && errno == EINTR);
  CHECK(got == sizeof seed, "the system gives random bytes");
  return seed;
}

Random& ProcessRandom() {
  thread_local Random random(SystemSeed());
  return random;
}

std::string RandomName(Random& random, std::size_t length) {
  static constexpr char kLetters[] = "0123456789abcdefghjkmnpqrstvwxyz";
  static_assert(sizeof kLetters == 32 + 1);
  std::string name(length, '\0');
  for (char& letter : name) letter = kLetters[random.Next() >> 59];
  return name;
}

}  // namespace stet
