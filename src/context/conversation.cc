#include "context/conversation.h"

#include <algorithm>
#include <unordered_set>

#include "base/json_view.h"
#include "context/reminder.h"
#include "log/tree.h"

namespace stet::context {
namespace {

using provider::AssistantTurn;
using provider::Entry;
using provider::ToolResult;
using provider::UserInput;

protocol::Block Text(std::string text) {
  protocol::TextBlock block;
  block.text = std::move(text);
  return block;
}

UserInput TextInput(std::string text) {
  UserInput input;
  input.blocks.push_back(Text(std::move(text)));
  return input;
}

/// A result's content: blocks, or, from elsewhere, any JSON.
protocol::Blocks ContentOf(const Raw& content) {
  if (JsonView(content.text).is_array()) {
    if (Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text))
      return *std::move(blocks);
  }
  return {Text(JsonView(content.text).StringOr(content.text))};
}

std::vector<std::string> CallsOf(const AssistantTurn& turn) {
  std::vector<std::string> ids;
  for (const protocol::Block& block : turn.blocks) {
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
      ids.push_back(call->tool_call_id);
  }
  return ids;
}

/// Answers what `waiting` still lacks.
void AnswerLost(std::vector<Entry>& out, std::vector<std::string>& waiting) {
  for (std::string& id : waiting) {
    ToolResult result;
    result.tool_call_id = std::move(id);
    result.content.push_back(Text("The result of this call was lost."));
    result.is_error = true;
    out.emplace_back(std::move(result));
  }
  waiting.clear();
}

}  // namespace

Status Conversation::Update(const log::Log& log) { return Update(log, log.index().leaf()); }

Status Conversation::Update(const log::Log& log, log::Ordinal leaf) {
  const std::vector<log::Ordinal> path = log::PathTo(log.index(), leaf);
  // What the path shares with the one before stays as it was made.
  std::size_t same = 0;
  while (same < path.size() && same < made_.size() && made_[same].event == path[same]) ++same;
  // A step's results may have come out of order, and an item may have been merged into the last
  // one: what stands behind the last assistant message is made again.
  const auto is_result = [&](log::Ordinal event) {
    const std::uint8_t type = log.index().entries()[event].type;
    return type == protocol::kTypeNumber<protocol::ToolResult> ||
           type == protocol::kTypeNumber<protocol::HarnessItem>;
  };
  while (same > 0 && same < path.size() && is_result(path[same - 1])) --same;
  if (same < made_.size()) {
    entries_.resize(made_[same].entries_before);
    made_.resize(same);
  }
  for (std::size_t at = same; at < path.size(); ++at) {
    made_.push_back({path[at], entries_.size()});
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(path[at]));
    Take(event);
  }
  return {};
}

void Conversation::Take(const protocol::Event& event) {
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    entries_.emplace_back(UserInput{user->message.blocks});
  } else if (const auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload)) {
    entries_.emplace_back(AssistantTurn{assistant->message.blocks, assistant->message.model});
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    entries_.emplace_back(
        ToolResult{result->tool_call_id, ContentOf(result->content), result->is_error});
  } else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
    TakeItem(*item);
  } else if (const auto* custom = std::get_if<protocol::CustomMessage>(&event.payload)) {
    entries_.emplace_back(UserInput{custom->message.blocks});
  } else if (const auto* compact = std::get_if<protocol::Compact>(&event.payload)) {
    TakeCompact(*compact);
  }
}

void Conversation::TakeItem(const protocol::HarnessItem& item) {
  std::string text = ReminderText(item.item.content);
  auto* result = entries_.empty() ? nullptr : std::get_if<ToolResult>(&entries_.back());
  if (item.placement != "merge" || result == nullptr) {
    entries_.emplace_back(TextInput(std::move(text)));
    return;
  }
  for (protocol::Block& block : result->content) {
    if (auto* said = std::get_if<protocol::TextBlock>(&block)) {
      said->text += "\n\n" + text;
      return;
    }
  }
  result->content.push_back(Text(std::move(text)));
}

void Conversation::TakeCompact(const protocol::Compact& compact) {
  entries_.emplace_back(TextInput(ReminderText(compact.summary)));
}

std::vector<Entry> Conversation::Entries() const {
  std::vector<Entry> out;
  out.reserve(entries_.size());
  std::vector<std::string> waiting;
  for (const Entry& entry : entries_) {
    if (const auto* result = std::get_if<ToolResult>(&entry)) {
      const auto call = std::ranges::find(waiting, result->tool_call_id);
      if (call == waiting.end()) {
        std::string said = "A tool call that was lost gave:";
        for (const protocol::Block& block : result->content) {
          if (const auto* text = std::get_if<protocol::TextBlock>(&block))
            said += "\n" + text->text;
        }
        out.emplace_back(TextInput(ReminderText(said)));
        continue;
      }
      waiting.erase(call);
    } else {
      AnswerLost(out, waiting);
      if (const auto* turn = std::get_if<AssistantTurn>(&entry)) waiting = CallsOf(*turn);
    }
    out.push_back(entry);
  }
  AnswerLost(out, waiting);
  return out;
}

}  // namespace stet::context
