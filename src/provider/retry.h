// Retry: the one policy on when a failed attempt is made again, and after how long. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "base/random.h"
#include "provider/failure.h"

namespace stet::provider {

struct RetryPolicy {
  int max_tries = 10;
  std::chrono::milliseconds first_wait{500};  // Doubles with every try.
  std::chrono::milliseconds longest_wait{30'000};
  std::chrono::milliseconds longest_asked_wait{60'000};  // When a server asks for more than this.
  int overloads_before_fallback = 3;
};

/// How long to wait before the next try; absent: there is none. `tries` have been made.
/// `committed`: text was shown or a tool call completed, so that a new try would contradict what
/// was seen.
std::optional<std::chrono::milliseconds> NextTry(const RetryPolicy& policy, const Failure& failure,
                                                 int tries, bool committed, Random& random);

}  // namespace stet::provider
