// What model calls came to, as people read it.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/session.h"

namespace stet::face {

/// Micro-units as dollars: "$0.0123".
std::string MoneyText(std::int64_t micro);

/// A table: the whole session, then by purpose, model and turn where there is more than one.
std::string CostText(const protocol::CostReport& report);

}  // namespace stet::face
