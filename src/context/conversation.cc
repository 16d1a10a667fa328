#include "context/conversation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

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

ToolResult LostResult(std::string tool_call_id) {
  ToolResult result;
  result.tool_call_id = std::move(tool_call_id);
  result.content.push_back(Text("The result of this call was lost."));
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

bool SaysSomething(const protocol::Block& block) {
  const auto* text = std::get_if<protocol::TextBlock>(&block);
  return text != nullptr ? text->text.find_first_not_of(" \t\r\n") != std::string::npos
                         : std::holds_alternative<protocol::ImageBlock>(block);
}

/// Puts the pieces of a path into the order that every model wants. What was put out never changes
/// by what follows, but for the results of the last turn.
class Pairing {
 public:
  /// Goes on behind `before`.
  explicit Pairing(std::vector<Entry> before = {}) : out_(std::move(before)) {}

  void Add(const Piece& piece) {
    if (const auto* result = std::get_if<ToolResult>(&piece)) {
      AddResult(*result);
      return;
    }
    const auto* reminder = std::get_if<MergedReminder>(&piece);
    if (reminder != nullptr && last_ != Last::kOther) {
      Merge(reminder->text);
      return;
    }
    Settle();
    if (reminder != nullptr) {
      AddInput(TextInput(reminder->text));
    } else if (const auto* input = std::get_if<UserInput>(&piece)) {
      AddInput(*input);
    } else {
      AddTurn(std::get<AssistantTurn>(piece));
    }
  }

  std::vector<Entry> Finish() && {
    Settle();
    return std::move(out_);
  }

 private:
  struct Call {
    std::string id;
    std::optional<ToolResult> result;
  };

  void AddResult(const ToolResult& result) {
    const auto call = std::ranges::find_if(
        calls_, [&](const Call& one) { return !one.result && one.id == result.tool_call_id; });
    if (call == calls_.end()) {
      strays_.push_back(StrayResult(result));
      last_ = Last::kStray;
    } else {
      call->result = result;
      last_ = Last::kResult;
      last_call_ = static_cast<std::size_t>(call - calls_.begin());
    }
  }

  /// Into the last result's text.
  void Merge(const std::string& reminder) {
    if (last_ == Last::kStray) {
      strays_.push_back(TextInput(reminder));
      return;
    }
    protocol::Blocks& content = calls_[last_call_].result->content;
    for (protocol::Block& block : content) {
      if (auto* said = std::get_if<protocol::TextBlock>(&block)) {
        said->text += "\n\n" + reminder;
        return;
      }
    }
    content.push_back(Text(reminder));
  }

  void AddInput(const UserInput& input) {
    UserInput said;
    std::ranges::copy_if(input.blocks, std::back_inserter(said.blocks), SaysSomething);
    if (!said.blocks.empty()) out_.emplace_back(std::move(said));
  }

  void AddTurn(const AssistantTurn& turn) {
    if (out_.empty())
      out_.emplace_back(TextInput(ReminderText("The beginning of this conversation is lost.")));
    for (const protocol::Block& block : turn.blocks) {
      if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
        calls_.push_back({call->tool_call_id, std::nullopt});
    }
    out_.emplace_back(turn);
  }

  /// Nothing stands between a turn and its results.
  void Settle() {
    for (Call& call : calls_) {
      out_.emplace_back(call.result ? *std::move(call.result) : LostResult(std::move(call.id)));
    }
    for (UserInput& stray : strays_) out_.emplace_back(std::move(stray));
    calls_.clear();
    strays_.clear();
    last_ = Last::kOther;
  }

  enum class Last { kOther, kResult, kStray };

  std::vector<Entry> out_;
  std::vector<Call> calls_;  // Of the last turn, until something else follows.
  std::vector<UserInput> strays_;
  Last last_ = Last::kOther;   // What was added last.
  std::size_t last_call_ = 0;  // Of the last result.
};

}  // namespace

Status Conversation::Update(const log::Log& log) { return Update(log, log.index().leaf()); }

Status Conversation::Update(const log::Log& log, log::Ordinal leaf) {
  const std::vector<log::Ordinal> path = log::PathTo(log.index(), leaf);
  // What the path shares with the one before stays as it was made.
  std::size_t same = 0;
  while (same < path.size() && same < made_.size() && made_[same].event == path[same]) ++same;
  if (same < made_.size()) {
    pieces_.resize(made_[same].pieces_before);
    made_.resize(same);
    // The turn that what is settled stands before is gone: it is made again.
    if (settled_pieces_ >= pieces_.size()) lent_ = true;
  }
  for (std::size_t at = same; at < path.size(); ++at) {
    made_.push_back({path[at], pieces_.size()});
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(path[at]));
    Take(event);
  }
  return {};
}

Conversation Conversation::Of(std::span<const protocol::Event> path) {
  Conversation conversation;
  for (const protocol::Event& event : path) conversation.Take(event);
  return conversation;
}

void Conversation::Take(const protocol::Event& event) {
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    pieces_.emplace_back(UserInput{user->message.blocks});
  } else if (const auto* assistant = std::get_if<protocol::AssistantMessage>(&event.payload)) {
    pieces_.emplace_back(AssistantTurn{assistant->message.blocks, assistant->message.model});
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    pieces_.emplace_back(
        ToolResult{result->tool_call_id, ContentOf(result->content), result->is_error});
  } else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
    TakeItem(*item);
  } else if (const auto* custom = std::get_if<protocol::CustomMessage>(&event.payload)) {
    pieces_.emplace_back(UserInput{custom->message.blocks});
  } else if (const auto* compact = std::get_if<protocol::Compact>(&event.payload)) {
    TakeCompact(*compact);
  }
}

void Conversation::TakeItem(const protocol::HarnessItem& item) {
  std::string text = ReminderText(item.item.content);
  if (item.placement == "merge") {
    pieces_.emplace_back(MergedReminder{std::move(text)});
  } else {
    pieces_.emplace_back(TextInput(std::move(text)));
  }
}

void Conversation::TakeCompact(const protocol::Compact& compact) {
  pieces_.emplace_back(TextInput(ReminderText(compact.summary)));
}

std::vector<Entry> Conversation::Lend() {
  if (std::exchange(lent_, true)) {
    settled_.clear();
    settled_pieces_ = 0;
  }
  std::size_t last = pieces_.size();
  while (last > settled_pieces_ && !std::holds_alternative<AssistantTurn>(pieces_[last - 1]))
    --last;
  if (last > settled_pieces_) {
    Pairing before(std::move(settled_));
    for (; settled_pieces_ < last - 1; ++settled_pieces_) before.Add(pieces_[settled_pieces_]);
    settled_ = std::move(before).Finish();
  }
  settled_entries_ = settled_.size();
  Pairing pairing(std::move(settled_));
  for (std::size_t at = settled_pieces_; at < pieces_.size(); ++at) pairing.Add(pieces_[at]);
  return std::move(pairing).Finish();
}

void Conversation::TakeBack(std::vector<Entry> entries) {
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(settled_entries_), entries.end());
  settled_ = std::move(entries);
  lent_ = false;
}

std::vector<Entry> Conversation::Entries() const {
  Pairing pairing;
  for (const Piece& piece : pieces_) pairing.Add(piece);
  return std::move(pairing).Finish();
}

}  // namespace stet::context
