#include "agent/run/view.h"

#include <utility>
#include <vector>

#include "log/tree.h"

namespace stet::agent {
namespace {

using protocol::kTypeNumber;
using protocol::Place;

/// What a person or the work itself has to say on this device.
bool LiftsOrPins(std::uint8_t type) {
  return type == kTypeNumber<protocol::Waiver> || type == kTypeNumber<protocol::FindingCleared> ||
         type == kTypeNumber<protocol::Evidence> || type == kTypeNumber<protocol::Pin>;
}

}  // namespace

Status RunView::Update(const log::Log& log) {
  Result<bool> extended = Extend(log);
  if (extended && *extended) return {};
  Status rebuilt = extended ? Rebuild(log) : Status(std::unexpected(extended.error()));
  if (!rebuilt) {
    const std::uint64_t since = since_;
    *this = RunView();
    since_ = since;
  }
  return rebuilt;
}

Status RunView::Fold(const log::Log& log, log::Ordinal event) {
  const log::Entry& entry = log.index().entries()[event];
  if (!run::State::Matters(entry.type)) return {};
  if (entry.seq < since_ && LiftsOrPins(entry.type)) return {};
  // Results may be large, and matter only while a write waits for its own.
  if (entry.type == kTypeNumber<protocol::ToolResult> && !state_.transactions().awaits_result())
    return {};
  ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
  state_.Fold(found);
  return {};
}

/// True when the new events go on from the leaf as it was. False: it was moved.
Result<bool> RunView::Extend(const log::Log& log) {
  const std::vector<log::Entry>& entries = log.index().entries();
  if (next_ > entries.size()) return false;
  for (; next_ < entries.size(); ++next_) {
    const log::Entry& entry = entries[next_];
    if (entry.type == kTypeNumber<protocol::Rewind> || entry.type == kTypeNumber<protocol::Branch>)
      return false;
    if ((entry.flags & log::Entry::kDuplicate) != 0) continue;
    if (entry.place() != Place::kSession && entry.parent != leaf_) return false;
    if (entry.place() == Place::kTree) leaf_ = next_;
    RETURN_IF_ERROR(Fold(log, next_));
  }
  return leaf_ == log.index().leaf();
}

Status RunView::Rebuild(const log::Log& log) {
  const log::Index& index = log.index();
  const std::vector<log::Entry>& entries = index.entries();
  std::vector<bool> applies(entries.size(), false);
  for (const log::Ordinal event : log::PathTo(index, index.leaf())) applies[event] = true;
  for (const log::Ordinal event : log::ControlsOn(index, index.leaf())) applies[event] = true;
  state_ = run::State();
  for (log::Ordinal event = 0; event < entries.size(); ++event) {
    const log::Entry& entry = entries[event];
    if ((entry.flags & log::Entry::kDuplicate) != 0) continue;
    const bool anywhere =
        entry.place() == Place::kSession || entry.type == kTypeNumber<protocol::ToolResult>;
    if (anywhere || applies[event]) RETURN_IF_ERROR(Fold(log, event));
  }
  next_ = static_cast<log::Ordinal>(entries.size());
  leaf_ = index.leaf();
  return {};
}

}  // namespace stet::agent
