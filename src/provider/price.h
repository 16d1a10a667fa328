// Price: tokens times prices, in whole micro-units of money. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/content.h"
#include "protocol/work.h"
#include "provider/model.h"

namespace stet::provider {

/// Rounded to the nearest micro-unit, halves up.
std::int64_t PriceOf(const Prices& prices, const protocol::Usage& usage);

/// Of all attempts whose usage was reported: those of `model`, and those of `fallback`. Absent when
/// a model that used anything has no known price.
std::optional<std::int64_t> PriceOf(const std::vector<protocol::Attempt>& attempts,
                                    const Model& model, const Model* fallback);

}  // namespace stet::provider
