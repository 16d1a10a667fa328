// Pins: texts that a model must not lose, and what it is told of them. The log has them; the model
// sees them where an item on the path says so, or the compaction that the path begins with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/log.h"
#include "protocol/run_report.h"

namespace stet::agent {

/// Beyond these a pin is refused: every request carries all of them.
inline constexpr std::size_t kMaxPinBytes = 8'000;
inline constexpr std::size_t kMaxPinsBytes = 32'000;

inline constexpr std::string_view kPinnedByUser = "user";

struct Pins {
  protocol::RunPins open;  // In the order they were pinned.
  protocol::RunPins removed;
};
Result<Pins> ReadPins(const log::Log& log);

/// What the model is told; the pin's text stands in it byte for byte.
std::string PinnedText(const protocol::RunPin& pin);
std::string UnpinnedText(const protocol::RunPin& pin);

/// What the model does not know where the leaf is: pins of the user that it does not see, and
/// others that it takes for pins still.
Result<std::vector<std::string>> UntoldPins(const log::Log& log);

}  // namespace stet::agent
