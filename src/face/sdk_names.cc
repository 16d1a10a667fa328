#include "face/sdk_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"

namespace stet::face {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 5> kStopReasons = {{{"end", "end_turn"},
                                                {"refused", "refusal"},
                                                {"paused", "pause_turn"},
                                                {"overflow", "model_context_window_exceeded"},
                                                {"other", "end_turn"}}};

}  // namespace

std::string UuidFrom(std::string_view name) {
  std::string hex = Sha256Hex(name).substr(0, 32);
  hex[12] = '8';
  hex[16] = "89ab"[hex[16] % 4];
  for (const std::size_t at : {20U, 16U, 12U, 8U}) hex.insert(at, "-");
  return hex;
}

std::string_view StopReasonName(std::string_view reason) {
  const auto found = std::ranges::find(kStopReasons, reason, &Names::first);
  return found == kStopReasons.end() ? reason : found->second;
}

}  // namespace stet::face
