// Placing: where the next events of a session go. The rules of the tree that a writer must keep
// (doc/format/log.md, "Order and place"): between an assistant message with calls and its last
// result only those results join the tree, and a call has exactly one result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/event.h"

namespace stet::log {

struct OpenCall {
  std::string tool_call_id;
  std::int64_t call_index = 0;
};

/// A value: a batch is placed on a copy, which replaces the original once the batch is written.
struct Placing {
  std::optional<std::string> leaf_id;
  std::vector<OpenCall> open;  // Calls of the last step that wait for their result, in call order.

  /// Gives the event its parent, fills in what the tree decides (`calls`, `callIndex`), and moves
  /// on. Fails, changing nothing, with kBusy when calls wait for results, kConflict when a result
  /// has no open call.
  Status Place(protocol::Event& event);
};

}  // namespace stet::log
