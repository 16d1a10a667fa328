#include "agent/items.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/workbench.h"

namespace stet::agent {
namespace {

constexpr std::array kKinds = {item::kSteer,        item::kRuntimeNotice, item::kDateChange,
                               item::kInstructions, item::kFileMention,   item::kAttachment,
                               item::kPin,          item::kHook,          item::kExtension};
constexpr std::array<std::string_view, 4> kOrigins = {"user", "system", "hook", "extension"};

/// Whether a request may have been made since the event was written.
bool WasCarried(const log::Log& log, log::Ordinal event) {
  const std::vector<log::Entry>& entries = log.index().entries();
  return std::any_of(entries.begin() + event, entries.end(), [](const log::Entry& entry) {
    return entry.type == protocol::kTypeNumber<protocol::ModelCall>;
  });
}

}  // namespace

Result<bool> MayMerge(const log::Log& log) {
  const log::Ordinal leaf = log.index().leaf();
  if (leaf == log::kNone || WasCarried(log, leaf)) return false;
  const std::uint8_t type = log.index().entries()[leaf].type;
  if (type == protocol::kTypeNumber<protocol::ToolResult>) return true;
  if (type != protocol::kTypeNumber<protocol::HarnessItem>) return false;
  ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(leaf));
  const auto* item = std::get_if<protocol::HarnessItem>(&event.payload);
  return item != nullptr && item->placement == "merge";
}

bool IsItemKind(std::string_view kind) { return std::ranges::find(kKinds, kind) != kKinds.end(); }
bool IsItemOrigin(std::string_view origin) {
  return std::ranges::find(kOrigins, origin) != kOrigins.end();
}

Result<protocol::HarnessItem> MakeItem(NewItem item, bool merges) {
  if (!IsItemKind(item.kind))
    return Fail(Code::kInvalid, fmt::format("there is no harness item of kind {}", item.kind));
  if (!IsItemOrigin(item.origin))
    return Fail(Code::kInvalid, fmt::format("a harness item cannot come from {}", item.origin));
  if (item.content.find_first_not_of(" \t\r\n") == std::string::npos)
    return Fail(Code::kInvalid, fmt::format("a {} item says nothing", item.kind));
  protocol::HarnessItem event;
  event.queue_item_id = std::move(item.queue_item_id);
  if (item.carries) event.carries.emplace().push_back(*std::move(item.carries));
  event.placement = merges ? "merge" : "own";
  event.by = std::move(item.by);
  event.item.kind = item.kind;
  event.item.origin = item.origin;
  event.item.content = std::move(item.content);
  event.item.visibility = item.hidden ? "hidden" : "visible";
  event.item.data = std::move(item.data);
  return event;
}

Status AppendItem(log::Log& log, NewItem item, const protocol::Stamp& stamp) {
  ASSIGN_OR_RETURN(const bool merges, MayMerge(log));
  ASSIGN_OR_RETURN(protocol::HarnessItem event, MakeItem(std::move(item), merges));
  return AppendEvent(log, std::move(event), stamp);
}

}  // namespace stet::agent
