// Error replies from arbitrary bytes: reading them never crashes, and what comes of it is a message
// for people, valid and bounded, and a wait that the retry policy can live with.
//
// The first two bytes are the status, the line behind them the value of every header, the rest the
// body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "base/utf8.h"
#include "provider/failure.h"
#include "provider/retry.h"

namespace stet::fuzz {
namespace {

constexpr std::size_t kLongestMessage = 2100;

void CheckFailure(const provider::Failure& failure) {
  CHECK(!failure.message.empty(), "a failure explains itself");
  CHECK(IsValidUtf8(failure.message), "its message is text");
  CHECK(failure.message.size() <= kLongestMessage, "and not a long one");
  CHECK(!provider::FailureName(failure.kind).empty(), "it has a name");
  CHECK(failure.retry_after_ms.value_or(0) >= 0, "no wait ends before it begins");
  Random random(1);
  for (int tries = 1; tries <= 3; ++tries) {
    const provider::RetryPolicy policy;
    const auto wait = provider::NextTry(policy, failure, tries, false, random);
    CHECK(!wait || (wait->count() >= 0 && *wait <= policy.longest_asked_wait),
          "a wait is no longer than the policy says");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::int64_t kNow = 1'767'225'600'000;
  const int status = (data[0] * 256 + data[1]) % 1000;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view value = rest.substr(0, rest.find('\n'));
  const std::string_view body = rest.substr(std::min(rest.size(), value.size() + 1));
  provider::Headers headers;
  for (const char* name : {"retry-after", "retry-after-ms", "x-should-retry", "request-id"})
    headers.emplace_back(name, value);
  CheckFailure(provider::FailureFromResponse(status, headers, body, kNow));
  headers.erase(headers.begin() + 1);  // The date in retry-after counts only without it.
  CheckFailure(provider::FailureFromResponse(status, headers, body, kNow));
  CheckFailure(provider::FailureFromObject(body));
  return 0;
}

}  // namespace stet::fuzz
