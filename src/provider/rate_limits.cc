#include "provider/rate_limits.h"

#include <algorithm>
#include <array>

namespace stet::provider {
namespace {

constexpr std::size_t kMaxLimits = 16;
constexpr std::array<std::string_view, 3> kMembers = {"limit", "remaining", "reset"};

struct Part {
  std::string_view what;
  std::string_view member;
};

/// Anthropic puts the member last, the others put it first.
std::optional<Part> Split(std::string_view name) {
  for (const std::string_view member : kMembers) {
    if (name.starts_with(member) && name.size() > member.size() && name[member.size()] == '-')
      return Part{name.substr(member.size() + 1), member};
    if (name.ends_with(member) && name.size() > member.size() &&
        name[name.size() - member.size() - 1] == '-')
      return Part{name.substr(0, name.size() - member.size() - 1), member};
    if (name == member) return Part{"requests", member};
  }
  return std::nullopt;
}

}  // namespace

std::vector<RateLimit> ReadRateLimits(const net::Headers& headers) {
  constexpr std::string_view kMark = "ratelimit-";
  std::vector<RateLimit> limits;
  for (const auto& [name, value] : headers) {
    const std::size_t mark = name.find(kMark);
    if (mark == std::string::npos) continue;
    const std::optional<Part> part = Split(std::string_view(name).substr(mark + kMark.size()));
    if (!part) continue;
    auto limit = std::ranges::find(limits, part->what, &RateLimit::what);
    if (limit == limits.end()) {
      if (limits.size() == kMaxLimits) continue;
      limit = limits.insert(limits.end(), RateLimit());
      limit->what = part->what;
    }
    (part->member == "limit"       ? limit->limit
     : part->member == "remaining" ? limit->remaining
                                   : limit->reset) = value;
  }
  return limits;
}

}  // namespace stet::provider
