#include "log/last_toolset.h"

namespace stet::log {
namespace {

using protocol::kTypeNumber;

/// What the last request of a turn had: a log that has no `toolset` is from before they were kept.
Result<std::optional<LastToolset>> OfLastCall(const Log& log) {
  const std::vector<Entry>& entries = log.index().entries();
  for (auto at = static_cast<Ordinal>(entries.size()); at > 0; --at) {
    if (entries[at - 1].type != kTypeNumber<protocol::ModelCall>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at - 1));
    const auto* call = std::get_if<protocol::ModelCall>(&event.payload);
    if (call == nullptr || call->phase != protocol::phase::kStart || call->purpose != "turn")
      continue;
    if (!call->toolset) return std::nullopt;
    LastToolset last;
    last.toolset.blob = *call->toolset;
    return last;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<LastToolset>> FindLastToolset(const Log& log) {
  const std::vector<Entry>& entries = log.index().entries();
  for (auto at = static_cast<Ordinal>(entries.size()); at > 0; --at) {
    const Entry& entry = entries[at - 1];
    if (entry.type != kTypeNumber<protocol::Toolset> || (entry.flags & Entry::kDuplicate) != 0)
      continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at - 1));
    // One whose members do not fit says nothing.
    if (const auto* toolset = std::get_if<protocol::Toolset>(&event.payload))
      return LastToolset{.toolset = *toolset, .event = at - 1};
  }
  return OfLastCall(log);
}

}  // namespace stet::log
