#include "provider/retry.h"

#include <algorithm>

namespace stet::provider {
namespace {

bool MayHelp(const Failure& failure) {
  if (failure.should_retry) return *failure.should_retry;
  switch (failure.kind) {
    case FailureKind::kRateLimited:
    case FailureKind::kOverloaded:
    case FailureKind::kServer:
    case FailureKind::kNetwork:
    case FailureKind::kTimeout:
    case FailureKind::kTruncated:
    case FailureKind::kGarbled: return true;
    default: return false;
  }
}

}  // namespace

std::optional<std::chrono::milliseconds> NextTry(const RetryPolicy& policy, const Failure& failure,
                                                 int tries, bool committed, Random& random) {
  using std::chrono::milliseconds;
  if (failure.kind == FailureKind::kCancelled || committed || tries >= policy.max_tries ||
      !MayHelp(failure))
    return std::nullopt;
  if (failure.retry_after_ms)
    return std::min(milliseconds(*failure.retry_after_ms), policy.longest_asked_wait);
  milliseconds wait = policy.first_wait;
  for (int i = 1; i < tries && wait < policy.longest_wait; ++i) wait *= 2;
  wait = std::min(wait, policy.longest_wait);
  // Up to a quarter less, so that many clients do not come back at once.
  const auto jitter = static_cast<std::uint64_t>(wait.count() / 4);
  return wait - milliseconds(random.Below(jitter + 1));
}

}  // namespace stet::provider
