#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stet {
namespace {

/// A longer name is like none: comparing costs its length times that of each name.
constexpr std::size_t kMaxComparedName = 32;

}  // namespace

std::size_t LetterDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row = {i};
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t least =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) least = std::min(least, before[j - 2] + 1);
      row.push_back(least);
    }
    before = std::exchange(above, std::move(row));
  }
  return above[b.size()];
}

std::string NearestName(std::string_view name, const std::vector<std::string_view>& names) {
  std::string nearest;
  if (name.size() > kMaxComparedName) return nearest;
  // As many letters may differ, less one: at most two, and never all of a short name.
  std::size_t best = std::min<std::size_t>(3, name.size());
  for (const std::string_view other : names) {
    if (other.size() > kMaxComparedName) continue;
    const bool beginning = name.size() > 1 && other.starts_with(name);
    const std::size_t distance = beginning ? 0 : LetterDistance(name, other);
    if (distance >= best) continue;
    best = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace stet
