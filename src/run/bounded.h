// The sizes of what a run's state keeps of an event, so that a capsule of any log can be written
// and read again. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "protocol/content.h"

namespace stet::run {

inline constexpr std::size_t kMaxText = 4096;
inline constexpr std::size_t kMaxRaw = 16384;
inline constexpr std::size_t kMaxRawDepth = 32;

/// Cut to kMaxText bytes.
std::string Bounded(std::string text);
/// Absent when it is larger than kMaxRaw, nested deeper than kMaxRawDepth, or no JSON in UTF-8.
protocol::OptionalRaw Bounded(const protocol::OptionalRaw& raw);

}  // namespace stet::run
