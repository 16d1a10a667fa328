#include "context/server_cache.h"

#include <algorithm>

namespace stet::context {
namespace {

using Kind = CacheRules::Kind;

std::int64_t BytesOf(const std::vector<PrintPart>& parts, std::size_t from, std::size_t to) {
  std::int64_t sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += parts[i].size;
  return sum;
}

bool Lives(Millis used, const CacheRules& rules, Millis now) {
  return now - used < rules.lifetime.count();
}

/// Whether a mark stands at the end of the first `parts` parts, or so few blocks behind it that an
/// entry there is found.
bool IsInSight(const Print& print, std::size_t parts) {
  std::size_t blocks = 0;
  for (std::size_t i = parts - 1; i < print.parts.size() && blocks < kLookBack; ++i) {
    if (print.parts[i].mark) return true;
    const provider::PartKind kind = print.parts[i].kind;
    if (kind == provider::PartKind::kTool || kind == provider::PartKind::kSystem ||
        kind == provider::PartKind::kMessage)
      ++blocks;
  }
  return false;
}

std::int64_t Scaled(std::int64_t value, std::int64_t by, std::int64_t of) {
  return of > 0 ? static_cast<std::int64_t>(static_cast<__int128>(value) * by / of) : 0;
}

}  // namespace

void ServerCache::Branch::Learn(Point point) {
  // A report that contradicts an older one is right.
  std::erase_if(points, [&](const Point& old) {
    return old.parts == point.parts || (old.parts < point.parts && old.tokens > point.tokens) ||
           (old.parts > point.parts && old.tokens < point.tokens);
  });
  points.insert(std::ranges::lower_bound(points, point.parts, {}, &Point::parts), point);
}

void ServerCache::Branch::Guess(Point point) {
  const auto above = std::ranges::lower_bound(points, point.parts, {}, &Point::parts);
  const bool fits =
      (above == points.begin() || (above - 1)->tokens <= point.tokens) &&
      (above == points.end() || (above->parts != point.parts && above->tokens >= point.tokens));
  if (fits) points.insert(above, point);
}

void ServerCache::Branch::Touch(std::size_t parts_used, Millis at) {
  const auto found = std::ranges::find(entries, parts_used, &Entry::parts);
  if (found == entries.end()) {
    entries.push_back({.parts = parts_used, .used = at});
  } else {
    found->used = std::max(found->used, at);
  }
}

std::int64_t ServerCache::Estimate(std::int64_t bytes) const {
  return Scaled(bytes, reported_tokens_, reported_bytes_);
}

std::int64_t ServerCache::TokensAt(const Branch& branch, std::size_t parts) const {
  const auto above = std::ranges::lower_bound(branch.points, parts, {}, &Point::parts);
  const Point below = above == branch.points.begin() ? Point{0, 0} : *(above - 1);
  const std::int64_t bytes = BytesOf(branch.parts, below.parts, parts);
  if (above == branch.points.end()) return below.tokens + Estimate(bytes);
  return below.tokens + Scaled(bytes, above->tokens - below.tokens,
                               BytesOf(branch.parts, below.parts, above->parts));
}

ServerCache::Hit ServerCache::ReadFrom(const Branch& branch, const Print& print,
                                       const CacheRules& rules, Millis now) const {
  const std::size_t common = CommonParts(branch.parts, print.parts);
  Hit best;
  if (rules.kind == Kind::kPrefix) {
    if (!Lives(branch.used, rules, now)) return best;
    const std::int64_t tokens = TokensAt(branch, common);
    return {.parts = common, .tokens = tokens / rules.step * rules.step};
  }
  for (const Entry& entry : branch.entries) {
    if (entry.parts > common || entry.parts <= best.parts || !Lives(entry.used, rules, now) ||
        (rules.kind == Kind::kMarks && !IsInSight(print, entry.parts)))
      continue;
    best = {.parts = entry.parts, .tokens = TokensAt(branch, entry.parts)};
  }
  return best;
}

ServerCache::Hit ServerCache::Read(const Print& print, const CacheRules& rules, Millis now) const {
  Hit best;
  if (rules.kind == Kind::kNone) return best;
  for (const Branch& branch : branches_) {
    const Hit hit = ReadFrom(branch, print, rules, now);
    if (hit.tokens >= rules.minimum && hit.tokens > best.tokens) best = hit;
  }
  return best;
}

/// The branch that the request extends, or a new one that has begun as the nearest did.
ServerCache::Branch& ServerCache::BranchFor(const Print& print) {
  Branch* nearest = nullptr;
  std::size_t common = 0;
  for (Branch& branch : branches_) {
    const std::size_t shared = CommonParts(branch.parts, print.parts);
    const bool whole = shared == branch.parts.size();
    if (nearest != nullptr && (shared < common || (shared == common && !whole))) continue;
    nearest = &branch;
    common = shared;
  }
  if (nearest != nullptr && common == nearest->parts.size()) {
    nearest->parts = print.parts;
    return *nearest;
  }
  Branch branch{.parts = print.parts, .points = {}, .entries = {}};
  if (nearest != nullptr) {
    std::ranges::copy_if(nearest->points, std::back_inserter(branch.points),
                         [&](const Point& point) { return point.parts <= common; });
    std::ranges::copy_if(nearest->entries, std::back_inserter(branch.entries),
                         [&](const Entry& entry) { return entry.parts <= common; });
  }
  if (branches_.size() == kMaxBranches)
    branches_.erase(std::ranges::min_element(branches_, {}, &Branch::used));
  return branches_.emplace_back(std::move(branch));
}

void ServerCache::Write(const Print& print, const CacheRules& rules, const protocol::Usage& usage,
                        const Hit& hit, Millis at) {
  const std::int64_t read = usage.cache_read.value_or(0);
  const std::int64_t total = usage.input + read + usage.cache_write.value_or(0);
  if (print.parts.empty() || total <= 0) return;
  reported_bytes_ = std::max<std::int64_t>(print.bytes(), 1);
  reported_tokens_ = total;
  Branch& branch = BranchFor(print);
  branch.used = at;
  branch.Learn({.parts = print.parts.size(), .tokens = total});
  if (rules.kind != Kind::kMarks && rules.kind != Kind::kWhole) return;
  if (hit.parts > 0 && read > 0) branch.Guess({.parts = hit.parts, .tokens = read});
  std::erase_if(branch.entries, [&](const Entry& entry) { return !Lives(entry.used, rules, at); });
  if (hit.parts > 0) branch.Touch(hit.parts, at);
  for (std::size_t parts = 1; parts <= print.parts.size(); ++parts) {
    const bool ends =
        rules.kind == Kind::kWhole ? parts == print.parts.size() : print.parts[parts - 1].mark;
    if (ends && TokensAt(branch, parts) >= rules.minimum) branch.Touch(parts, at);
  }
}

}  // namespace stet::context
