// RateLimits: what a server says is left, kept to be shown.
#pragma once

#include <string>
#include <vector>

#include "json/describe.h"
#include "net/headers.h"

namespace stet::provider {

/// As the server writes it: numbers, and a reset as a date or a span.
struct RateLimit {
  STET_FIELDS(RateLimit,
              (std::string, what),  // requests, tokens, input-tokens, ...
              (std::string, limit),
              (std::string, remaining),
              (std::string, reset))
};

/// From headers such as anthropic-ratelimit-tokens-remaining and x-ratelimit-remaining-tokens.
std::vector<RateLimit> ReadRateLimits(const net::Headers& headers);

}  // namespace stet::provider
