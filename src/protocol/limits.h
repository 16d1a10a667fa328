// Limits: what a member of a request may be beyond its type. A struct names them beside its
// members, as `kLimits`; the host refuses what does not keep to them, and the schemas that are made
// of the struct tell them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/result.h"

namespace stet::protocol {

struct Limit {
  std::string_view member;  // As JSON has it.
  bool required = false;    // Else it may be absent, null or an empty text.
  /// It is one of these, with blanks between; empty: any text.
  std::string_view words = {};
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

inline constexpr std::string_view kEffortWords = "none minimal low medium high xhigh max";
/// The last as others spell it.
inline constexpr std::string_view kModeWords =
    "default acceptEdits auto plan dontAsk bypass bypassPermissions";

template <class T>
constexpr std::span<const Limit> LimitsOf() {
  if constexpr (requires { T::kLimits; })
    return T::kLimits;
  else
    return {};
}

/// Whether `word` is one of `words`.
bool IsOneOf(std::string_view word, std::string_view words);

/// kInvalid names the first member of the object that does not keep to its limit. Types are not
/// looked at.
Status CheckLimits(std::span<const Limit> limits, std::string_view object_json);

}  // namespace stet::protocol
