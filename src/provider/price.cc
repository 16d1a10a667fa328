#include "provider/price.h"

namespace stet::provider {

std::int64_t PriceOf(const Prices& prices, const protocol::Usage& usage) {
  constexpr __int128 kMillion = 1'000'000;
  __int128 sum = 0;
  const auto add = [&](std::int64_t tokens, std::int64_t price) {
    sum += static_cast<__int128>(tokens) * price;
  };
  add(usage.input, prices.input);
  add(usage.output, prices.output);  // Reasoning is part of it.
  add(usage.cache_read.value_or(0), prices.cache_read);
  add(usage.cache_write.value_or(0), prices.cache_write);
  return static_cast<std::int64_t>((sum + (kMillion / 2)) / kMillion);
}

std::optional<std::int64_t> PriceOf(const std::vector<protocol::Attempt>& attempts,
                                    const Model& model, const Model* fallback) {
  std::int64_t sum = 0;
  for (const protocol::Attempt& attempt : attempts) {
    if (!attempt.usage) continue;
    const Model* answered = attempt.model ? fallback : &model;
    if (answered == nullptr || !answered->prices) return std::nullopt;
    sum += PriceOf(*answered->prices, *attempt.usage);
  }
  return sum;
}

}  // namespace stet::provider
