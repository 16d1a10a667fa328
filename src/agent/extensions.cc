#include "agent/extensions.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/items.h"
#include "agent/turn.h"
#include "base/utf8.h"
#include "hook/extension/extensions.h"
#include "json/writer.h"
#include "log/tree.h"

namespace stet::agent {
namespace {

constexpr std::size_t kMaxTextBytes = 4000;
constexpr std::size_t kMaxEventsBytes = 500'000;
constexpr std::size_t kMaxKept = 1000;

std::string TextOf(const protocol::Event& event) {
  std::string text;
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload))
    text = protocol::PlainText(user->message.blocks);
  else if (const auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload))
    text = protocol::PlainText(assistant->message.blocks);
  else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload))
    text = protocol::PlainText(
        Decode<protocol::Blocks>(result->content.text).value_or(protocol::Blocks()));
  else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload))
    text = item->item.content;
  text.resize(Utf8PrefixLength(text, kMaxTextBytes));
  return text;
}

std::string TypeOf(const protocol::Event& event) {
  if (const auto role = protocol::RoleName(event.payload)) return std::string(*role);
  return std::string(protocol::TypeName(event.payload));
}

/// What the model is shown since the last time.
Result<Raw> NewEvents(Workbench& bench) {
  Raw events{""};
  JsonWriter writer(events.text);
  writer.BeginArray();
  for (const context::Part& part : bench.conversation.parts()) {
    if (part.event < bench.transformed_to || part.hidden) continue;
    if (events.text.size() > kMaxEventsBytes) break;
    ASSIGN_OR_RETURN(const protocol::Event event, bench.log.EventAt(part.event));
    writer.BeginObject().Member("id", event.id).Member("type", TypeOf(event));
    writer.Member("text", TextOf(event)).EndObject();
  }
  writer.EndArray();
  bench.transformed_to = static_cast<log::Ordinal>(bench.log.index().entries().size());
  return events;
}

/// The place of an event in the view; the view's size when it is not there.
std::size_t PlaceOf(const Workbench& bench, const std::string& id) {
  const std::span<const context::Part> parts = bench.conversation.parts();
  const Result<log::Ordinal> event = bench.log.Find(id);
  if (!event) return parts.size();
  const auto found = std::ranges::find(parts, *event, &context::Part::event);
  return static_cast<std::size_t>(found - parts.begin());
}

bool IsOf(const Workbench& bench, std::size_t place, std::uint8_t type) {
  return place < bench.conversation.parts().size() &&
         bench.conversation.parts()[place].type == type;
}

/// Whole turns, and none that is still under way.
bool MayHide(const Workbench& bench, const hook::ContextOperation& operation) {
  constexpr std::uint8_t kUser = protocol::kTypeNumber<protocol::UserMessage>;
  const std::size_t from = PlaceOf(bench, operation.events[0]);
  const std::size_t through = PlaceOf(bench, operation.events[1]);
  return from <= through && IsOf(bench, from, kUser) && IsOf(bench, through + 1, kUser);
}

bool MayReplace(const Workbench& bench, const hook::ContextOperation& operation) {
  return std::ranges::all_of(operation.events, [&](const std::string& id) {
    return IsOf(bench, PlaceOf(bench, id), protocol::kTypeNumber<protocol::ToolResult>);
  });
}

Status Apply(Workbench& bench, const protocol::Stamp& stamp, const std::string& by,
             const hook::ContextOperation& operation) {
  using Kind = hook::ContextOperation::Kind;
  if (operation.kind == Kind::kAppend) {
    NewItem item{.kind = item::kExtension, .origin = "extension", .content = operation.text};
    item.by = by;
    return AppendItem(bench.log, std::move(item), stamp);
  }
  const bool hides = operation.kind == Kind::kHide;
  if (hides ? !MayHide(bench, operation) : !MayReplace(bench, operation)) {
    PublishNotice(bench.log, by,
                  hides ? "it may hide only whole turns that the model is shown"
                        : "it may replace only results that the model is shown");
    return {};
  }
  if (hides) {
    protocol::Snip snip;
    snip.from = operation.events[0];
    snip.through = operation.events[1];
    snip.by = by;
    return AppendEvent(bench.log, std::move(snip), stamp);
  }
  protocol::ContentReplacement replacement;
  replacement.by = by;
  replacement.event_ids = operation.events;
  replacement.preview = operation.text;
  return AppendEvent(bench.log, std::move(replacement), stamp);
}

/// What was kept of a kind on the path, as an array.
Result<Raw> ReadKept(const log::Log& log, const std::string& kind) {
  const std::vector<log::Entry>& entries = log.index().entries();
  const std::vector<log::Ordinal> controls = log::ControlsOn(log.index(), log.index().leaf());
  std::vector<std::string> kept;
  for (auto at = controls.rbegin(); at != controls.rend() && kept.size() < kMaxKept; ++at) {
    if (entries[*at].type != protocol::kTypeNumber<protocol::Custom>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(*at));
    const auto* custom = std::get_if<protocol::Custom>(&event.payload);
    if (custom != nullptr && custom->kind == kind) kept.push_back(custom->data.text);
  }
  std::ranges::reverse(kept);
  return Raw{fmt::format("[{}]", fmt::join(kept, ","))};
}

}  // namespace

hook::ExtensionHost HostOf(Workbench& bench) {
  hook::ExtensionHost host;
  host.append = [&bench](const std::string& kind, const Raw& data) {
    protocol::Custom custom;
    custom.kind = kind;
    custom.data = data;
    return AppendEvent(bench.log, std::move(custom), {});
  };
  host.read = [&bench](const std::string& kind) { return ReadKept(bench.log, kind); };
  host.message = [&bench](hook::ExtensionMessage message) {
    NewOwed owed{
        .origin = "extension", .kind = std::move(message.kind), .text = std::move(message.text)};
    owed.data = std::move(message.data);
    if (const Status kept = Owe(bench, std::move(owed), {}); !kept)
      PublishNotice(bench.log, "stet", "what an extension says is lost: " + kept.error().Text());
  };
  host.notice = [&bench](const std::string& by, const std::string& text) {
    PublishNotice(bench.log, by, text);
  };
  return host;
}

Async<Status> TransformContext(Workbench& bench, protocol::Stamp stamp, CancelToken cancel) {
  if (bench.extensions == nullptr ||
      !bench.extensions->Intercepts(hook::intercept::kTransformContext))
    co_return Status();
  CO_RETURN_IF_ERROR(bench.conversation.Update(bench.log));
  CO_ASSIGN_OR_RETURN(Raw events, NewEvents(bench));
  const Result<std::vector<hook::ContextChange>> changes =
      co_await bench.extensions->Transform(std::move(events), std::move(cancel));
  if (!changes) co_return Fail(Code::kUnavailable, changes.error().Text());
  for (const hook::ContextChange& change : *changes) {
    for (const hook::ContextOperation& operation : change.operations)
      CO_RETURN_IF_ERROR(Apply(bench, stamp, change.by, operation));
  }
  co_return Status();
}

std::vector<std::string> NamesOf(const protocol::Event& event) {
  std::vector<std::string> names = {std::string(protocol::TypeName(event.payload))};
  if (std::holds_alternative<protocol::UserMessage>(event.payload))
    names.emplace_back("prompt_submit");
  const auto* turn = std::get_if<protocol::Turn>(&event.payload);
  if (turn != nullptr && turn->phase == protocol::phase::kEnd)
    names.emplace_back(turn->reason == ended::kCompleted ? "turn_finish" : "turn_error");
  return names;
}

}  // namespace stet::agent
