#include "context/display.h"

#include <array>

#include "json/view.h"

namespace stet::context {
namespace {

using protocol::DisplayRow;
using protocol::Event;

void Add(DisplayRow& row, std::string_view kind, std::string text, std::string detail = "") {
  protocol::DisplayPart& part = row.parts.emplace_back();
  part.kind = kind;
  part.text = std::move(text);
  part.detail = std::move(detail);
}

void AddBlocks(DisplayRow& row, const protocol::Blocks& blocks) {
  for (const protocol::Block& block : blocks) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block))
      Add(row, "text", text->text);
    else if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block))
      Add(row, "thinking", thinking->text);
    else if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
      Add(row, "call", call->tool_name, call->args.text);
    else if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
      Add(row, "image", "", image->media_type);
  }
}

/// A result's content: the text of its blocks, its text when it is a string, else its JSON.
std::string ContentText(const Raw& content) {
  if (const Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text)) {
    if (std::string said = protocol::PlainText(*blocks); !said.empty()) return said;
  }
  return JsonView(content.text).StringOr(content.text);
}

void Fill(const protocol::UserMessage& user, DisplayRow& row) {
  row.tone = "user";
  row.title = "user";
  AddBlocks(row, user.message.blocks);
}

void Fill(const protocol::AssistantMessage& assistant, DisplayRow& row) {
  row.tone = "assistant";
  row.title = assistant.partial.value_or(false) ? "assistant (cut short)" : "assistant";
  AddBlocks(row, assistant.message.blocks);
}

void Fill(const protocol::ToolResult& result, DisplayRow& row) {
  row.tone = result.is_error ? "problem" : "tool";
  row.title = result.is_error ? "tool error" : "tool result";
  Add(row, "output", ContentText(result.content));
}

void Fill(const protocol::HarnessItem& item, DisplayRow& row) {
  row.tone = "notice";
  row.title = item.item.kind;
  row.hidden = item.item.visibility == "hidden";
  Add(row, "output", item.item.content);
}

void Fill(const protocol::Compaction& compact, DisplayRow& row) {
  row.tone = "notice";
  row.title = "compacted";
  Add(row, "output", compact.summary);
}

void Fill(const protocol::InternalMessage& internal, DisplayRow& row) {
  row.tone = "aside";
  row.title = "note";
  AddBlocks(row, internal.message.blocks);
}

void Fill(const protocol::CustomMessage& custom, DisplayRow& row) {
  row.tone = "notice";
  row.title = custom.kind;
  AddBlocks(row, custom.message.blocks);
}

using Filler = void (*)(const Event&, DisplayRow&);

template <class T>
void FillAs(const Event& event, DisplayRow& row) {
  Fill(std::get<T>(event.payload), row);
}

template <class... Ts>
constexpr std::array<Filler, protocol::kPayloadTypes> TableOf() {
  std::array<Filler, protocol::kPayloadTypes> table{};
  ((table[protocol::kTypeNumber<Ts>] = &FillAs<Ts>), ...);
  return table;
}

constexpr std::array<Filler, protocol::kPayloadTypes> kFillers =
    TableOf<protocol::UserMessage, protocol::AssistantMessage, protocol::ToolResult,
            protocol::HarnessItem, protocol::Compaction, protocol::InternalMessage,
            protocol::CustomMessage>();

}  // namespace

DisplayRow ToDisplay(const Event& event) {
  DisplayRow row;
  row.id = event.id;
  row.ts = event.stamp.ts;
  if (const Filler fill = kFillers[event.payload.index()]) {
    fill(event, row);
  } else {
    row.tone = "aside";
    row.title = TypeName(event.payload);
  }
  return row;
}

}  // namespace stet::context
