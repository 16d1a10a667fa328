// Plans: which parts of the active view give way when it grows too large, and where it is cut.
// Pure: the caller that acts on a plan records it as an event, so that it is decided once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "context/conversation.h"
#include "context/tokens.h"

namespace stet::context {

/// What the parts and the barrier's head come to.
Size SizeOf(const Conversation& conversation);

/// The results of the last step that give way until the rest have at most `budget_bytes`: the
/// largest first, of equal ones the oldest. Positions in `parts`, ascending.
std::vector<std::size_t> ResultsOverBudget(std::span<const Part> parts, std::int64_t budget_bytes);

/// The results of at least `min_bytes` that stand before the last `keep_steps` steps. Positions in
/// `parts`, ascending.
std::vector<std::size_t> OldResults(std::span<const Part> parts, std::size_t keep_steps,
                                    std::uint32_t min_bytes);

/// Where the view is cut: what stands behind the part `last_out` is kept.
struct Cut {
  std::size_t last_out = 0;
  /// The message that the turn under way began with, when it stands above the cut.
  std::optional<std::size_t> quoted;
};

/// The longest end of the view that has at most `keep_bytes` and begins behind a rest point; it may
/// be empty. Nothing when there is nothing to leave out.
std::optional<Cut> PlanCut(const log::Index& index, std::span<const Part> parts,
                           std::int64_t keep_bytes);

/// The view cut there, with what must be quoted then.
Cut CutBehind(std::span<const Part> parts, std::size_t last_out);

}  // namespace stet::context
