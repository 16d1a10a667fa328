#include "tool/args.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stet::tool {

std::optional<std::int64_t> Args::Int(std::string_view name) const {
  constexpr double kExact = 9007199254740992.0;  // Doubles up to 2^53 are whole numbers exactly.
  const JsonView value = object_[name];
  if (const auto number = value.Int()) return number;
  if (value.kind() != JsonReader::Kind::kNumber) return std::nullopt;
  const std::string_view text = value.text();
  double number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
    return std::nullopt;
  if (std::trunc(number) != number || std::abs(number) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::int64_t HeadLimit(const Args& args) {
  constexpr std::int64_t kMost = 1000;
  return std::clamp<std::int64_t>(args.Int("head_limit").value_or(kDefaultHeadLimit), 1, kMost);
}

}  // namespace stet::tool
