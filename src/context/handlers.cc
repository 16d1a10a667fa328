#include "context/handlers.h"

#include <array>

#include "context/reminder.h"
#include "json/view.h"
#include "run/capsule/capsule.h"

namespace stet::context {
namespace {

using protocol::Event;

protocol::Block Text(std::string text) {
  protocol::TextBlock block;
  block.text = std::move(text);
  return block;
}

/// A result's content: blocks, or, from elsewhere, any JSON.
protocol::Blocks ContentOf(const Raw& content) {
  if (JsonView(content.text).is_array()) {
    if (Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text))
      return *std::move(blocks);
  }
  return {Text(JsonView(content.text).StringOr(content.text))};
}

ToModel ToModelOf(const protocol::UserMessage& user) {
  return Piece(provider::UserInput{user.message.blocks});
}

ToModel ToModelOf(const protocol::AssistantMessage& assistant) {
  return Piece(provider::AssistantTurn{assistant.message.blocks, assistant.message.model});
}

ToModel ToModelOf(const protocol::ToolResult& result) {
  return Piece(
      provider::ToolResult{result.tool_call_id, ContentOf(result.content), result.is_error});
}

ToModel ToModelOf(const protocol::HarnessItem& item) {
  std::string text = ReminderText(item.item.content);
  if (item.placement == "merge") return Piece(MergedReminder{std::move(text)});
  return Piece(TextInput(std::move(text)));
}

ToModel ToModelOf(const protocol::CustomMessage& custom) {
  return Piece(provider::UserInput{custom.message.blocks});
}

ToModel ToModelOf(const protocol::Compaction& compact) {
  Barrier barrier;
  barrier.head.push_back(TextInput(ReminderText(compact.summary)));
  if (const Result<run::Capsule> capsule = run::ReadCapsule(compact.capsule.text)) {
    barrier.head.push_back(TextInput(ReminderText(run::RenderCapsule(*capsule))));
    if (const std::string pins = run::RenderPins(capsule->pins); !pins.empty())
      barrier.head.push_back(TextInput(ReminderText(pins)));
  }
  barrier.keep_after = compact.keep_after_event_id;
  return barrier;
}

ToModel ToModelOf(const protocol::Snip& snip) {
  return Hide{snip.from, snip.through, snip.undo.value_or(false)};
}

ToModel ToModelOf(const protocol::ContentReplacement& replacement) {
  return Replace{replacement.event_ids, replacement.preview.value_or("")};
}

struct Handler {
  Role role = Role::kSkip;
  ToModel (*convert)(const Event&) = nullptr;
};

template <class T>
ToModel ConvertAs(const Event& event) {
  const T* payload = std::get_if<T>(&event.payload);
  return payload == nullptr ? ToModel(Skip()) : ToModelOf(*payload);
}

template <class T>
constexpr void Set(std::array<Handler, protocol::kPayloadTypes>& table, Role role) {
  table[protocol::kTypeNumber<T>] = {role, &ConvertAs<T>};
}

/// Every type that is not named here is skipped.
constexpr std::array<Handler, protocol::kPayloadTypes> kHandlers = [] {
  std::array<Handler, protocol::kPayloadTypes> table;
  Set<protocol::UserMessage>(table, Role::kContent);
  Set<protocol::AssistantMessage>(table, Role::kContent);
  Set<protocol::ToolResult>(table, Role::kContent);
  Set<protocol::HarnessItem>(table, Role::kContent);
  Set<protocol::CustomMessage>(table, Role::kContent);
  Set<protocol::Compaction>(table, Role::kBarrier);
  Set<protocol::Snip>(table, Role::kFilter);
  Set<protocol::ContentReplacement>(table, Role::kFilter);
  return table;
}();

}  // namespace

provider::UserInput TextInput(std::string text) {
  provider::UserInput input;
  input.blocks.push_back(Text(std::move(text)));
  return input;
}

Role RoleOf(std::uint8_t type_number) {
  return type_number < protocol::kPayloadTypes ? kHandlers[type_number].role : Role::kSkip;
}

ToModel Convert(const Event& event) {
  const Handler& handler = kHandlers[event.payload.index()];
  return handler.convert == nullptr ? ToModel(Skip()) : handler.convert(event);
}

}  // namespace stet::context
