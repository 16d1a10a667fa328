#include "context/retelling.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/view.h"

namespace stet::context {
namespace {

constexpr std::size_t kMaxResultBytes = 4000;  // Of one result, in a retelling.
constexpr std::size_t kMaxRowBytes = 20'000;
constexpr std::size_t kMaxFiles = 40;
constexpr std::size_t kMaxCommands = 20;
constexpr std::size_t kMaxCommandBytes = 200;
constexpr std::size_t kMaxAskedBytes = 400;
constexpr std::size_t kLastTexts = 3;
constexpr std::string_view kLeftOut = "[left out]";

std::string Shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return fmt::format("{} [...]", text.substr(0, Utf8PrefixLength(text, max_bytes)));
}

std::string OneLine(std::string_view text, std::size_t max_bytes) {
  std::string line = Shortened(text, max_bytes);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\r', ' ');
  return line;
}

/// Behind all others.
void PutLast(std::vector<std::string>& list, std::string item) {
  std::erase(list, item);
  list.push_back(std::move(item));
}

std::string Joined(std::span<const std::string> list, std::size_t most) {
  const std::size_t first = list.size() > most ? list.size() - most : 0;
  std::string text = first > 0 ? fmt::format("- {} more\n", first) : "";
  for (const std::string& item : list.subspan(first)) text += fmt::format("- {}\n", item);
  return text;
}

bool Calls(const protocol::Event& event, std::string_view tool) {
  const auto* said = std::get_if<protocol::AssistantMessage>(&event.payload);
  return said != nullptr &&
         std::ranges::any_of(said->message.blocks, [&](const protocol::Block& block) {
           const auto* call = std::get_if<protocol::ToolCallBlock>(&block);
           return call != nullptr && call->tool_name == tool;
         });
}

std::string ResultText(const Raw& content) {
  if (const Result<protocol::Blocks> blocks = Decode<protocol::Blocks>(content.text))
    return protocol::PlainText(*blocks);
  return JsonView(content.text).StringOr(content.text);
}

}  // namespace

Result<Retelling> Retelling::Read(const log::Log& log, const Conversation& view,
                                  const Stretch& stretch) {
  Retelling told;
  if (stretch.earlier) {
    told.earlier_ = *stretch.earlier;
  } else if (view.barrier() != log::kNone) {
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(view.barrier()));
    if (const auto* compact = std::get_if<protocol::Compaction>(&event.payload))
      told.earlier_ = compact->summary;
  }
  const std::span<const Part> parts = view.parts();
  for (std::size_t at = stretch.first; at < parts.size(); ++at) {
    if (parts[at].hidden || RoleOf(parts[at].type) != Role::kContent) continue;
    if (at >= stretch.count && parts[at].type != protocol::kTypeNumber<protocol::AssistantMessage>)
      continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(parts[at].event));
    if (at < stretch.count) {
      told.Fold(event, at);
    } else {
      if (Calls(event, "TodoWrite")) told.todo_.clear();
      if (Calls(event, "ExitPlan")) told.plan_.clear();
    }
  }
  return told;
}

void Retelling::Fold(const protocol::Event& event, std::size_t part) {
  if (const auto* user = std::get_if<protocol::UserMessage>(&event.payload)) {
    rows_.push_back({Kind::kUser, part, protocol::PlainText(user->message.blocks)});
  } else if (const auto* said = std::get_if<protocol::AssistantMessage>(&event.payload)) {
    if (std::string text = protocol::PlainText(said->message.blocks); !text.empty())
      rows_.push_back({Kind::kAssistant, part, std::move(text)});
    for (const protocol::Block& block : said->message.blocks) {
      if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block)) TakeCall(*call, part);
    }
  } else if (const auto* result = std::get_if<protocol::ToolResult>(&event.payload)) {
    const auto command = std::ranges::find(commands_, result->tool_call_id, &Command::tool_call_id);
    if (command != commands_.end()) command->failed = result->is_error;
    rows_.push_back({Kind::kResult, part, Shortened(ResultText(result->content), kMaxResultBytes)});
  } else if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload)) {
    rows_.push_back({Kind::kOther, part, Shortened(item->item.content, kMaxResultBytes)});
  } else if (const auto* custom = std::get_if<protocol::CustomMessage>(&event.payload)) {
    rows_.push_back({Kind::kUser, part, protocol::PlainText(custom->message.blocks)});
  }
}

void Retelling::TakeCall(const protocol::ToolCallBlock& call, std::size_t part) {
  rows_.push_back(
      {Kind::kCall, part,
       fmt::format("{} {}", call.tool_name, Shortened(call.args.text, kMaxResultBytes))});
  const JsonView args(call.args.text);
  if (call.tool_name == "Edit" || call.tool_name == "Write") {
    PutLast(changed_, OneLine(args["file_path"].StringOr("?"), kMaxCommandBytes));
  } else if (call.tool_name == "Read") {
    PutLast(read_, OneLine(args["file_path"].StringOr("?"), kMaxCommandBytes));
  } else if (call.tool_name == "Bash") {
    commands_.push_back(
        {call.tool_call_id, OneLine(args["command"].StringOr("?"), kMaxCommandBytes)});
  } else if (call.tool_name == "TodoWrite") {
    todo_ = call.args.text;
  } else if (call.tool_name == "ExitPlan") {
    plan_ = args["plan"].StringOr("");
  }
}

std::string Retelling::Text(std::size_t max_bytes) const {
  const auto label = [](Kind kind) -> std::string_view {
    switch (kind) {
      case Kind::kUser: return "USER";
      case Kind::kAssistant: return "ASSISTANT";
      case Kind::kCall: return "CALL";
      case Kind::kResult: return "RESULT";
      case Kind::kOther: break;
    }
    return "NOTE";
  };
  std::vector<std::string> lines;
  std::size_t total = 0;
  for (const Row& row : rows_) {
    lines.push_back(fmt::format("{}: {}\n", label(row.kind), Shortened(row.text, kMaxRowBytes)));
    total += lines.back().size();
  }
  std::string before =
      earlier_.empty() ? "" : "EARLIER: " + Shortened(earlier_, max_bytes / 4) + "\n";
  total += before.size();
  for (std::size_t i = 0; i < rows_.size() && total > max_bytes; ++i) {
    if (rows_[i].kind != Kind::kResult) continue;
    const std::string without = fmt::format("RESULT: {}\n", kLeftOut);
    if (lines[i].size() <= without.size()) continue;
    total -= lines[i].size() - without.size();
    lines[i] = without;
  }
  std::size_t first = 0;
  while (total > max_bytes && first < lines.size()) {
    const std::size_t half = first + std::max<std::size_t>(1, (lines.size() - first) / 2);
    for (; first < half; ++first) total -= lines[first].size();
  }
  std::string text = std::move(before);
  if (first > 0) text += fmt::format("{}\n", kLeftOut);
  for (std::size_t i = first; i < lines.size(); ++i) text += lines[i];
  return text;
}

std::string Retelling::Facts(std::size_t max_bytes) const {
  std::vector<std::string> asked;
  std::vector<std::string> said;
  for (const Row& row : rows_) {
    if (row.kind == Kind::kUser) asked.push_back(OneLine(row.text, kMaxAskedBytes));
    if (row.kind == Kind::kAssistant) said.push_back(OneLine(row.text, kMaxAskedBytes));
  }
  std::vector<std::string> commands;
  for (const Command& command : commands_)
    commands.push_back(command.text + (command.failed ? " (failed)" : ""));
  std::string text;
  const auto section = [&](std::string_view title, const std::string& body) {
    if (!body.empty()) text += fmt::format("{}:\n{}", title, body);
  };
  section("What the user asked for", Joined(asked, kMaxFiles));
  section("Files that were changed", Joined(changed_, kMaxFiles));
  section("Files that were read", Joined(read_, kMaxFiles));
  section("Commands that were run", Joined(commands, kMaxCommands));
  if (!todo_.empty()) section("The list of things to do", Shortened(todo_, max_bytes / 4) + "\n");
  section("What you said last", Joined(said, kLastTexts));
  return Shortened(text, max_bytes);
}

std::string Retelling::Quote(std::size_t part, std::size_t max_bytes) const {
  const auto row = std::ranges::find_if(
      rows_, [&](const Row& one) { return one.part == part && one.kind == Kind::kUser; });
  return row == rows_.end() ? "" : Shortened(row->text, max_bytes);
}

}  // namespace stet::context
