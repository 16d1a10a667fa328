// What fault_caller and the test that starts it agree on.
#pragma once

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "provider/model.h"

namespace stet::fault {

/// In the prompt of the call: the server's script answers by it.
inline std::string MarkOf(int call) { return fmt::format("[call {}]", call); }
/// The turn that the call is for.
inline std::string TurnOf(int call) { return fmt::format("turn_{}", call); }

/// Numbers that no rounding and no mix-up leaves unseen.
inline constexpr provider::Prices kPrices{
    .input = 3'141'593, .output = 15'271'829, .cache_read = 314'161, .cache_write = 3'770'003};
inline constexpr provider::Prices kSparePrices{
    .input = 271'829, .output = 1'618'033, .cache_read = 27'193, .cache_write = 577'217};

/// The dialect of a call's model; that of the model it falls back to, with `spare`.
inline provider::Dialect DialectOf(int call, bool spare) {
  constexpr provider::Dialect kDialects[] = {
      provider::Dialect::kAnthropicMessages, provider::Dialect::kOpenAiCompletions,
      provider::Dialect::kOpenAiResponses, provider::Dialect::kGoogleGenerativeAi};
  return kDialects[static_cast<std::size_t>(spare ? call / 4 : call) % 4];
}

}  // namespace stet::fault
