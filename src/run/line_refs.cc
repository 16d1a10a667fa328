#include "run/line_refs.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace stet::run {

LineTable::LineTable(std::string_view bytes) : lines_(SplitLines(bytes)) {
  sums_.reserve(lines_.size() + 1);
  sums_.push_back(0);
  for (const std::string_view line : lines_) sums_.push_back(sums_.back() + FastHash(line));
}

std::string LineTable::HashOf(std::size_t first, std::size_t count) const {
  Sha256 hash;
  for (std::size_t line = first; line < first + count; ++line) {
    hash.Update(lines_[line]);
    hash.Update("\n");
  }
  return hash.FinishHex();
}

protocol::RunRefs LineTable::Refs(
    std::span<const std::pair<std::int64_t, std::int64_t>> ranges) const {
  protocol::RunRefs refs;
  const auto total = static_cast<std::int64_t>(lines_.size());
  for (const auto& [from, to] : ranges) {
    const std::int64_t end = std::min(to, total);
    if (from < 1 || from > end || refs.size() >= kMaxRefs) continue;
    protocol::RunRef& ref = refs.emplace_back();
    ref.start = from;
    ref.end = end;
    const auto first = static_cast<std::size_t>(from - 1);
    const auto count = static_cast<std::size_t>(end - from + 1);
    ref.hash = HashOf(first, count);
    ref.sum = sums_[first + count] - sums_[first];
  }
  return refs;
}

LineTable::Place LineTable::Find(const protocol::RunRef& ref) const {
  const std::uint64_t total = lines_.size();
  if (ref.start < 1 || ref.end < ref.start) return Place::kLost;
  const std::uint64_t count =
      static_cast<std::uint64_t>(ref.end) - static_cast<std::uint64_t>(ref.start) + 1;
  if (count > total) return Place::kLost;
  // The sum tells almost every other place at once; a few that it does not are hashed.
  constexpr int kMaxHashed = 16;
  int hashed = 0;
  std::vector<std::uint64_t> places;
  for (std::uint64_t first = 0; first + count <= total && places.size() < 2; ++first) {
    if (sums_[first + count] - sums_[first] != ref.sum) continue;
    if (++hashed > kMaxHashed) return Place::kLost;
    if (HashOf(first, count) == ref.hash) places.push_back(first);
  }
  if (places.size() != 1) return Place::kLost;
  return places[0] + 1 == static_cast<std::uint64_t>(ref.start) ? Place::kSame : Place::kElsewhere;
}

}  // namespace stet::run
