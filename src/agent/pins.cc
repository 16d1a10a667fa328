#include "agent/pins.h"

#include <algorithm>

#include <fmt/format.h>

#include "context/conversation.h"
#include "json/view.h"

namespace stet::agent {
namespace {

/// What of the active view could tell of pins.
struct Seen {
  std::string text;                  // Of its items.
  std::vector<std::string> carried;  // Ids of the pins that its compaction carries.
};

Result<Seen> SeenOnPath(const log::Log& log) {
  context::Conversation view;
  RETURN_IF_ERROR(view.Update(log));
  Seen seen;
  for (const context::Part& part : view.parts()) {
    if (part.hidden || part.type != protocol::kTypeNumber<protocol::HarnessItem>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(part.event));
    if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload))
      seen.text += item->item.content + '\n';
  }
  if (view.barrier() == log::kNone) return seen;
  ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(view.barrier()));
  const auto* compact = std::get_if<protocol::Compaction>(&event.payload);
  if (compact == nullptr) return seen;
  JsonView(compact->capsule.text)["pins"].ForEach(
      [&](JsonView pin) { seen.carried.push_back(pin["pinId"].StringOr("")); });
  return seen;
}

}  // namespace

Result<Pins> ReadPins(const log::Log& log) {
  Pins pins;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    if (entries[at].type != protocol::kTypeNumber<protocol::Pin>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    const auto* pin = std::get_if<protocol::Pin>(&event.payload);
    if (pin == nullptr) continue;
    const auto same = std::ranges::find(pins.open, pin->pin_id, &protocol::RunPin::pin_id);
    if (pin->removed.value_or(false)) {
      if (same == pins.open.end()) continue;
      pins.removed.push_back(std::move(*same));
      pins.open.erase(same);
      continue;
    }
    protocol::RunPin& now = same == pins.open.end() ? pins.open.emplace_back() : *same;
    now.pin_id = pin->pin_id;
    now.text = pin->text.value_or("");
    now.source = pin->source;
  }
  return pins;
}

std::string PinnedText(const protocol::RunPin& pin) {
  return fmt::format("The user pinned this ({}). It holds until it is unpinned:\n{}", pin.pin_id,
                     pin.text);
}

std::string UnpinnedText(const protocol::RunPin& pin) {
  return fmt::format("The user has unpinned {}: it holds no longer.", pin.pin_id);
}

Result<std::vector<std::string>> UntoldPins(const log::Log& log) {
  std::vector<std::string> untold;
  ASSIGN_OR_RETURN(const Pins pins, ReadPins(log));
  if (pins.open.empty() && pins.removed.empty()) return untold;
  ASSIGN_OR_RETURN(const Seen seen, SeenOnPath(log));
  // Those that are not the user's stand in the instructions, which every request has.
  const auto sees = [&](const protocol::RunPin& pin) {
    return pin.source != kPinnedByUser ||
           std::ranges::find(seen.carried, pin.pin_id) != seen.carried.end() ||
           seen.text.contains(PinnedText(pin));
  };
  for (const protocol::RunPin& pin : pins.open) {
    if (!sees(pin)) untold.push_back(PinnedText(pin));
  }
  for (const protocol::RunPin& pin : pins.removed) {
    if (sees(pin) && !seen.text.contains(UnpinnedText(pin))) untold.push_back(UnpinnedText(pin));
  }
  return untold;
}

}  // namespace stet::agent
