// TOML as JSON text, with a note of where each value stood. The one place that knows the TOML
// library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::config {

struct TomlText {
  struct Spot {
    std::string key;  // "model.clocks.connectMs"
    std::uint32_t line;
  };
  std::string json;  // An object.
  std::vector<Spot> spots;

  /// The line of `key`; 0 when it is not there.
  [[nodiscard]] std::uint32_t LineOf(std::string_view key) const;
};

/// kInvalid with the place, as "NAME:LINE: what". Dates, infinities and nan are refused: nothing in
/// the configuration is one, and JSON has none. 1.0 stays a number with a fraction: no whole one.
Result<TomlText> ReadToml(std::string_view text, std::string_view name);

}  // namespace stet::config
