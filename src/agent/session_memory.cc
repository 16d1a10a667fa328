#include "agent/session_memory.h"

#include <algorithm>

#include "agent/compaction.h"
#include "agent/summary.h"
#include "context/retelling.h"
#include "json/view.h"
#include "json/writer.h"
#include "log/tree.h"

namespace stet::agent {
namespace {

constexpr std::string_view kKind = "session_memory";
constexpr std::int64_t kWorthwhile = 10;  // A tenth of the room must be new.

/// Where in the view the memory ends; nothing when what it ends with is not shown any more.
std::optional<std::size_t> EndIn(const context::Conversation& view, const SessionMemory& memory) {
  const std::span<const context::Part> parts = view.parts();
  const auto found = std::ranges::lower_bound(parts, memory.through, {}, &context::Part::event);
  if (found == parts.end() || found->event != memory.through) return std::nullopt;
  return static_cast<std::size_t>(found - parts.begin());
}

}  // namespace

Result<std::optional<SessionMemory>> FindMemory(const log::Log& log) {
  const log::Index& index = log.index();
  const std::vector<log::Entry>& entries = index.entries();
  const bool any = std::ranges::any_of(entries, [](const log::Entry& entry) {
    return entry.type == protocol::kTypeNumber<protocol::Custom>;
  });
  if (!any) return std::nullopt;
  const std::vector<log::Ordinal> controls = log::ControlsOn(index, index.leaf());
  for (auto at = controls.rbegin(); at != controls.rend(); ++at) {
    if (entries[*at].type != protocol::kTypeNumber<protocol::Custom>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(*at));
    const auto* custom = std::get_if<protocol::Custom>(&event.payload);
    if (custom == nullptr || custom->kind != kKind) continue;
    const JsonView data(custom->data.text);
    const Result<log::Ordinal> through = log.Find(data["throughEventId"].StringOr(""));
    if (!through) return std::nullopt;
    return SessionMemory{.through = *through, .text = data["text"].StringOr("")};
  }
  return std::nullopt;
}

Async<void> UpdateMemory(Workbench& bench, CancelToken cancel) {
  if (bench.auxiliary == nullptr || !bench.conversation.Update(bench.log)) co_return;
  const std::span<const context::Part> parts = bench.conversation.parts();
  const Result<std::optional<SessionMemory>> known = FindMemory(bench.log);
  const std::optional<std::string> leaf = bench.log.leaf_id();
  if (!known || parts.empty() || !leaf || !bench.log.open_calls().empty()) co_return;
  context::Stretch stretch{.first = 0, .count = parts.size(), .earlier = std::nullopt};
  if (*known) {
    if (const std::optional<std::size_t> end = EndIn(bench.conversation, **known)) {
      stretch.first = *end + 1;
      stretch.earlier = (*known)->text;
    }
  }
  std::int64_t fresh = 0;
  for (const context::Part& part : parts.subspan(stretch.first)) fresh += part.bytes;
  const Room room = RoomOf(bench);
  if (fresh * kWorthwhile < bench.tokens.BytesOf(room.available())) co_return;
  const Result<context::Retelling> told =
      context::Retelling::Read(bench.log, bench.conversation, stretch);
  if (!told) co_return;
  SummaryWanted wanted{
      .focus = "",
      .max_bytes = static_cast<std::size_t>(bench.tokens.BytesOf(SummaryTokens(room))),
      .fits = false,
      .purpose = "memory"};
  const protocol::Stamp stamp;
  const Result<std::optional<Summary>> made =
      co_await AskForSummary(bench, stamp, *told, std::move(wanted), std::move(cancel));
  if (!made || !*made) co_return;
  protocol::Custom custom;
  custom.kind = kKind;
  custom.data = Raw{""};
  JsonWriter writer(custom.data.text);
  writer.BeginObject().Member("throughEventId", *leaf).Member("text", (*made)->text);
  writer.Member("model", (*made)->model).EndObject();
  // Ignoring the error on purpose: the next append of a turn meets it as well.
  (void)AppendEvent(bench.log, std::move(custom), {});
}

}  // namespace stet::agent
