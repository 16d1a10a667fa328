#include "context/plan.h"

#include <algorithm>

namespace stet::context {
namespace {

using protocol::kTypeNumber;

constexpr std::int64_t kImageBytes = 6400;  // As much as its tokens are text.

std::int64_t Weight(const Part& part) {
  return static_cast<std::int64_t>(part.bytes) + (part.images * kImageBytes);
}

bool IsResult(const Part& part) { return part.type == kTypeNumber<protocol::ToolResult>; }
bool IsTurn(const Part& part) { return part.type == kTypeNumber<protocol::AssistantMessage>; }

/// Can be replaced, and is not yet.
bool GivesWay(const Part& part) { return IsResult(part) && !part.replaced && !part.hidden; }

}  // namespace

Size SizeOf(const Conversation& conversation) {
  Size size{.bytes = static_cast<std::int64_t>(conversation.head_bytes()), .images = 0};
  for (const Part& part : conversation.parts()) size += {part.bytes, part.images};
  return size;
}

std::vector<std::size_t> ResultsOverBudget(std::span<const Part> parts, std::int64_t budget_bytes) {
  std::vector<std::size_t> results;
  std::int64_t total = 0;
  for (std::size_t at = parts.size(); at > 0 && !IsTurn(parts[at - 1]); --at) {
    if (!IsResult(parts[at - 1])) continue;
    total += Weight(parts[at - 1]);
    if (GivesWay(parts[at - 1])) results.push_back(at - 1);
  }
  std::ranges::sort(results);
  std::ranges::stable_sort(results, std::greater(),
                           [&](std::size_t at) { return Weight(parts[at]); });
  std::vector<std::size_t> chosen;
  for (const std::size_t at : results) {
    if (total <= budget_bytes) break;
    total -= Weight(parts[at]);
    chosen.push_back(at);
  }
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::size_t> OldResults(std::span<const Part> parts, std::size_t keep_steps,
                                    std::uint32_t min_bytes) {
  std::size_t end = parts.size();
  for (std::size_t steps = 0; end > 0 && steps < keep_steps; --end) {
    if (IsTurn(parts[end - 1])) ++steps;
  }
  std::vector<std::size_t> old;
  for (std::size_t at = 0; at < end; ++at) {
    if (GivesWay(parts[at]) && Weight(parts[at]) >= min_bytes) old.push_back(at);
  }
  return old;
}

std::optional<Cut> PlanCut(const log::Index& index, std::span<const Part> parts,
                           std::int64_t keep_bytes) {
  if (parts.empty()) return std::nullopt;
  std::optional<std::size_t> last_out;
  std::int64_t kept = 0;
  for (std::size_t at = parts.size(); at > 0 && kept <= keep_bytes; --at) {
    // A reminder that was merged into a result goes with it.
    const bool joins = at < parts.size() && parts[at].type == kTypeNumber<protocol::HarnessItem>;
    if (!joins && index.entries()[parts[at - 1].event].open == 0) last_out = at - 1;
    kept += Weight(parts[at - 1]);
  }
  if (!last_out) return std::nullopt;
  return CutBehind(parts, *last_out);
}

Cut CutBehind(std::span<const Part> parts, std::size_t last_out) {
  Cut cut{.last_out = last_out, .quoted = std::nullopt};
  for (std::size_t at = parts.size(); at > 0; --at) {
    if (parts[at - 1].type != kTypeNumber<protocol::UserMessage> || parts[at - 1].hidden) continue;
    if (at - 1 <= cut.last_out) cut.quoted = at - 1;
    break;
  }
  return cut;
}

}  // namespace stet::context
