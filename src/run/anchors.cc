#include "run/anchors.h"

#include <algorithm>
#include <array>
#include <optional>

#include "json/view.h"

namespace stet::run {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;
using Ranges = std::vector<Range>;

/// In order, with what touches or overlaps made one.
Ranges Joined(Ranges ranges) {
  std::ranges::sort(ranges);
  Ranges joined;
  for (const auto& [from, to] : ranges) {
    if (!joined.empty() && from - 1 <= joined.back().second)
      joined.back().second = std::max(joined.back().second, to);
    else if (joined.size() < Anchors::kMaxRanges)
      joined.emplace_back(from, to);
  }
  return joined;
}

void AddRange(Ranges& ranges, std::optional<std::int64_t> from, std::optional<std::int64_t> to) {
  if (from && to && *from >= 1 && *from <= *to && ranges.size() < Anchors::kMaxRanges)
    ranges.emplace_back(*from, *to);
}

/// {"lines":[[1,20]],"total":40}, as tools record it.
void TakeCoverage(const Raw& coverage, SourceAnchor& anchor) {
  const JsonView json(coverage.text);
  json["lines"].ForEach([&](JsonView item) {
    std::array<std::optional<std::int64_t>, 2> ends;
    std::size_t count = 0;
    item.ForEach([&](JsonView end) {
      if (count < ends.size()) ends[count] = end.Int();
      ++count;
    });
    if (count == ends.size()) AddRange(anchor.lines, ends[0], ends[1]);
  });
  anchor.lines = Joined(std::move(anchor.lines));
  const std::int64_t total = json["total"].IntOr(-1);
  anchor.whole = total == 0 || (total > 0 && anchor.lines.size() == 1 &&
                                anchor.lines[0].first == 1 && anchor.lines[0].second >= total);
}

}  // namespace

void Anchors::Keep(SourceAnchor anchor) {
  const std::string path = anchor.path;
  by_path_[path] = std::move(anchor);
  if (by_path_.size() <= kMaxAnchors) return;
  by_path_.erase(
      std::ranges::min_element(by_path_, {}, [](const auto& entry) { return entry.second.seq; }));
}

void Anchors::Fold(const protocol::FileFact& fact, std::uint64_t seq) {
  if (fact.op == "delete") by_path_.erase(fact.path);
  if ((fact.op != "read" && fact.op != "write") || !fact.after) return;
  SourceAnchor anchor{.path = fact.path, .hash = *fact.after, .seq = seq};
  if (fact.coverage)
    TakeCoverage(*fact.coverage, anchor);
  else
    anchor.whole = true;  // What we wrote, or what was shown other than as lines.
  const SourceAnchor* known = Find(fact.path);
  if (fact.op == "read" && known != nullptr && known->hash == anchor.hash) {
    anchor.whole = anchor.whole || known->whole;
    anchor.lines.insert(anchor.lines.end(), known->lines.begin(), known->lines.end());
    anchor.lines = Joined(std::move(anchor.lines));
  }
  Keep(std::move(anchor));
}

void Anchors::Fold(const protocol::Anchor& said, std::uint64_t seq) {
  SourceAnchor anchor{.path = said.path, .hash = said.file_hash, .seq = seq};
  if (said.refs) {
    JsonView(said.refs->text).ForEach([&](JsonView ref) {
      AddRange(anchor.lines, ref["start"].Int(), ref["end"].Int());
    });
  }
  anchor.lines = Joined(std::move(anchor.lines));
  anchor.whole = anchor.lines.empty();
  Keep(std::move(anchor));
}

std::vector<SourceAnchor> Anchors::All() const {
  std::vector<SourceAnchor> all;
  all.reserve(by_path_.size());
  for (const auto& [path, anchor] : by_path_) all.push_back(anchor);
  std::ranges::sort(all, [](const SourceAnchor& a, const SourceAnchor& b) {
    return std::pair(a.seq, std::string_view(a.path)) < std::pair(b.seq, std::string_view(b.path));
  });
  return all;
}

const SourceAnchor* Anchors::Find(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &found->second;
}

}  // namespace stet::run
