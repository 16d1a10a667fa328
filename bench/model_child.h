// What model_bench measures of our own code, in a process of its own: it asks the emulator, and
// reports on standard output. Also the models and requests that both processes mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/describe.h"
#include "provider/model.h"
#include "provider/request.h"

namespace stet::bench {

/// Prompts that the bench's script knows.
inline constexpr std::string_view kTiny = "tiny";  // One word.
inline constexpr std::string_view kLong = "long";  // Many text deltas, as fast as they are taken.
inline constexpr std::string_view kSlow = "slow";  // Deltas with pauses.
inline constexpr std::string_view kSilent = "silent";  // No answer at all.

struct DecodeReport {
  STET_FIELDS(DecodeReport,
              (std::uint64_t, deltas),
              (std::int64_t, stream_us),  // From the first event to the end.
              (std::uint64_t, rss_kb))
};

struct ManyReport {
  STET_FIELDS(ManyReport,
              (std::uint64_t, done),
              (std::int64_t, first_us),  // When the first and the last stream ended.
              (std::int64_t, last_us),
              (std::uint64_t, start_rss_kb),
              (std::uint64_t, rss_kb))
};

using Times = std::vector<std::int64_t>;

struct CancelReport {
  STET_FIELDS(CancelReport, (Times, us))
};

provider::Model EmulatedModel(provider::Dialect dialect, const std::string& url);
provider::Request Asking(std::string_view text);

/// `args`: decode DIALECT URL PROMPT | many URL COUNT | cancel URL PROMPT COUNT. The exit code.
int ModelChild(const std::vector<std::string>& args);

}  // namespace stet::bench
