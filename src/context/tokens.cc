#include "context/tokens.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stet::context {
namespace {

// The rule of thumb, before anything was reported.
constexpr double kBytesPerToken = 4;
constexpr double kTokensPerImage = 1600;
// A report that says something else is about something else: a cache that is not counted, say.
constexpr double kLeastScale = 0.4;
constexpr double kMostScale = 4;
constexpr double kLeastTokens = 200;  // A smaller request says too little about text.

}  // namespace

double Tokens::Raw(const Size& size) const {
  return (static_cast<double>(size.bytes) / kBytesPerToken) +
         (static_cast<double>(size.images) * kTokensPerImage);
}

void Tokens::Took(const Size& size, std::int64_t tokens) {
  if (tokens <= 0) return;
  error_ = std::llabs(Of(size) - tokens) * 1000 / tokens;
  reported_size_ = size;
  reported_tokens_ = tokens;
  if (Raw(size) >= kLeastTokens)
    scale_ = std::clamp(static_cast<double>(tokens) / Raw(size), kLeastScale, kMostScale);
}

std::int64_t Tokens::Of(const Size& size) const {
  if (!reported_tokens_) return std::llround(Raw(size) * scale_);
  const double more = (Raw(size) - Raw(reported_size_)) * scale_;
  return std::max<std::int64_t>(0, *reported_tokens_ + std::llround(more));
}

std::int64_t Tokens::BytesOf(std::int64_t tokens) const {
  return std::llround(static_cast<double>(tokens) * kBytesPerToken / scale_);
}

}  // namespace stet::context
