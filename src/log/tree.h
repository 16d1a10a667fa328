// The tree of a session, read off its index: paths, children, leaves, rest points, and which
// control events apply.
//
// Pure functions over an Index; a Tree is a snapshot of the children and must not outlive the index
// or its next append.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "log/index.h"

namespace stet::log {

/// From the first event down to `leaf`, which comes last unless it is a tool result that finished
/// out of order: results of one assistant message stand by call index. Empty for kNone.
std::vector<Ordinal> PathTo(const Index& index, Ordinal leaf);

/// Whether a rewind may go there: before the first event, or a tree event on whose path every call
/// has its result.
bool IsRestPoint(const Index& index, Ordinal event);

/// `event` itself when it is a rest point, else the last event of the step that it stands in.
/// kConflict when that step has calls without a result; kInvalid when the event is not in the tree.
Result<Ordinal> RestPointOf(const Index& index, Ordinal event);

/// The control events that apply on the path to `leaf`, in file order: the anchor is on the path,
/// and what follows the anchor on the path, if anything, stands later in the file.
std::vector<Ordinal> ControlsOn(const Index& index, Ordinal leaf);

/// Every event that applies on the path to `leaf`, in file order: the path, its control events, and
/// all events about the session.
std::vector<Ordinal> AllOn(const Index& index, Ordinal leaf);

class Tree {
 public:
  explicit Tree(const Index& index);

  /// In file order; kNone asks for the roots.
  [[nodiscard]] std::span<const Ordinal> Children(Ordinal event) const;
  [[nodiscard]] std::vector<Ordinal> Leaves() const;
  /// Events (kNone among them) with more than one child.
  [[nodiscard]] std::vector<Ordinal> BranchPoints() const;

 private:
  [[nodiscard]] std::size_t Slot(Ordinal event) const {
    return event == kNone ? 0 : std::size_t{event} + 1;
  }

  const Index& index_;
  std::vector<std::uint32_t>
      first_;  // Where a slot's children start in children_; one more at the end.
  std::vector<Ordinal> children_;
};

}  // namespace stet::log
