#include "context/pairing.h"

#include <algorithm>

#include "context/reminder.h"

namespace stet::context {
namespace {

using provider::AssistantTurn;
using provider::ToolResult;
using provider::UserInput;

ToolResult LostResult(std::string tool_call_id) {
  ToolResult result;
  result.tool_call_id = std::move(tool_call_id);
  result.content = TextInput("The result of this call was lost.").blocks;
  result.is_error = true;
  return result;
}

/// A result whose call is not there, or has another one.
UserInput StrayResult(const ToolResult& result) {
  std::string said = "A tool call that was lost gave:";
  for (const protocol::Block& block : result.content) {
    if (const auto* text = std::get_if<protocol::TextBlock>(&block)) said += "\n" + text->text;
  }
  return TextInput(ReminderText(said));
}

bool SaysNothing(const protocol::Block& block) {
  const auto* text = std::get_if<protocol::TextBlock>(&block);
  return text != nullptr ? text->text.find_first_not_of(" \t\r\n") == std::string::npos
                         : !std::holds_alternative<protocol::ImageBlock>(block);
}

}  // namespace

void Pairing::Add(Piece piece) {
  if (auto* result = std::get_if<ToolResult>(&piece)) return AddResult(std::move(*result));
  auto* reminder = std::get_if<MergedReminder>(&piece);
  if (reminder != nullptr && last_ != Last::kOther) return Merge(reminder->text);
  Settle();
  if (reminder != nullptr) {
    AddInput(TextInput(std::move(reminder->text)));
  } else if (auto* input = std::get_if<UserInput>(&piece)) {
    AddInput(std::move(*input));
  } else if (auto* turn = std::get_if<AssistantTurn>(&piece)) {
    AddTurn(std::move(*turn));
  }
}

std::vector<provider::Entry> Pairing::Finish() && {
  Settle();
  return std::move(out_);
}

void Pairing::AddResult(ToolResult result) {
  const auto call = std::ranges::find_if(
      calls_, [&](const Call& one) { return !one.result && one.id == result.tool_call_id; });
  if (call == calls_.end()) {
    strays_.push_back(StrayResult(result));
    last_ = Last::kStray;
  } else {
    call->result = std::move(result);
    last_ = Last::kResult;
  }
}

/// Into the text of the last call's result, whichever came last.
void Pairing::Merge(const std::string& reminder) {
  if (last_ == Last::kStray) {
    strays_.push_back(TextInput(reminder));
    return;
  }
  const auto last = std::ranges::find_if(calls_.rbegin(), calls_.rend(),
                                         [](const Call& call) { return call.result.has_value(); });
  for (protocol::Block& block : last->result->content) {
    if (auto* said = std::get_if<protocol::TextBlock>(&block)) {
      said->text += "\n\n" + reminder;
      return;
    }
  }
  last->result->content.push_back(TextInput(reminder).blocks.front());
}

void Pairing::AddInput(UserInput input) {
  std::erase_if(input.blocks, SaysNothing);
  if (!input.blocks.empty()) out_.emplace_back(std::move(input));
}

void Pairing::AddTurn(AssistantTurn turn) {
  if (out_.empty())
    out_.emplace_back(TextInput(ReminderText("The beginning of this conversation is lost.")));
  for (const protocol::Block& block : turn.blocks) {
    if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
      calls_.push_back({call->tool_call_id, std::nullopt});
  }
  out_.emplace_back(std::move(turn));
}

/// Nothing stands between a turn and its results.
void Pairing::Settle() {
  for (Call& call : calls_)
    out_.emplace_back(call.result ? *std::move(call.result) : LostResult(std::move(call.id)));
  for (UserInput& stray : strays_) out_.emplace_back(std::move(stray));
  calls_.clear();
  strays_.clear();
  last_ = Last::kOther;
}

}  // namespace stet::context
