#include "cli/transcript.h"

#include <fmt/format.h>

#include "base/text_width.h"
#include "base/utf8.h"

namespace stet::cli {
namespace {

/// What of a tool's arguments and results a transcript shows; the log has it all.
constexpr std::size_t kShownBytes = 2000;

std::string Shortened(std::string_view text) {
  if (text.size() <= kShownBytes) return PrintableText(text);
  const std::size_t kept = Utf8PrefixLength(text, kShownBytes);
  return fmt::format("{}\n... {} more bytes (`--json` shows all)",
                     PrintableText(text.substr(0, kept)), text.size() - kept);
}

/// A tool result's content: the text of its blocks, its text when it is a string, else its JSON.
std::string ContentText(const Raw& content) {
  if (const Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text)) {
    if (std::string said = protocol::PlainText(*blocks); !said.empty()) return said;
  }
  JsonReader reader(content.text);
  std::string text;
  return reader.Peek() == JsonReader::Kind::kString && reader.String(&text) ? text : content.text;
}

std::string Heading(const protocol::Event& event, Style style, std::string_view who,
                    const Terminal& terminal) {
  return fmt::format(
      "{}  {}\n", terminal.Styled(style, who),
      terminal.Styled(Style::kDim, fmt::format("{}  {}", event.id, TimeText(event.stamp.ts))));
}

std::string BlockText(const protocol::Block& block, const Terminal& terminal) {
  if (const auto* text = std::get_if<protocol::TextBlock>(&block))
    return PrintableText(text->text) + "\n";
  if (const auto* thinking = std::get_if<protocol::ThinkingBlock>(&block)) {
    return terminal.Styled(Style::kDim, Shortened(thinking->text)) + "\n";
  }
  if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) {
    return fmt::format("{} {}\n",
                       terminal.Styled(Style::kCyan, "-> " + PrintableText(call->tool_name)),
                       Shortened(call->args.text));
  }
  if (const auto* image = std::get_if<protocol::ImageBlock>(&block))
    return fmt::format("[image {}]\n", image->media_type);
  return "";
}

std::string BlocksText(const protocol::Blocks& blocks, const Terminal& terminal) {
  std::string text;
  for (const protocol::Block& block : blocks) text += BlockText(block, terminal);
  return text;
}

}  // namespace

std::string TranscriptText(const protocol::Event& event, const Terminal& terminal) {
  std::string text;
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    text = Heading(event, Style::kGreen, "user", terminal) +
           BlocksText(user->message.blocks, terminal);
  } else if (const auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload)) {
    const std::string who =
        assistant->partial.value_or(false) ? "assistant (cut short)" : "assistant";
    text = Heading(event, Style::kBold, who, terminal) +
           BlocksText(assistant->message.blocks, terminal);
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    text = Heading(event, result->is_error ? Style::kRed : Style::kCyan,
                   result->is_error ? "tool error" : "tool result", terminal) +
           Shortened(ContentText(result->content)) + "\n";
  } else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
    if (item->item.visibility == "hidden") return "";
    text = Heading(event, Style::kYellow, item->item.kind, terminal) +
           Shortened(item->item.content) + "\n";
  } else if (const auto* compact = std::get_if<protocol::Compact>(&event.payload)) {
    text =
        Heading(event, Style::kYellow, "compacted", terminal) + Shortened(compact->summary) + "\n";
  } else if (const auto* internal = std::get_if<protocol::InternalMessage>(&event.payload)) {
    text = Heading(event, Style::kDim, "note", terminal) +
           BlocksText(internal->message.blocks, terminal);
  } else if (const auto* custom = std::get_if<protocol::CustomMessage>(&event.payload)) {
    text = Heading(event, Style::kYellow, custom->kind, terminal) +
           BlocksText(custom->message.blocks, terminal);
  } else {
    text = Heading(event, Style::kDim, TypeName(event.payload), terminal);
  }
  return text + "\n";
}

}  // namespace stet::cli
