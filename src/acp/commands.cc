#include "acp/commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace stet::acp {
namespace {

struct Row {
  std::string_view name;
  std::string_view description;
  std::string_view hint;  // What is to be written behind it; empty: nothing.
  Result<CommandDone> (*run)(const std::string& argument, client::LiveSession& session);
};

Result<CommandDone> Start(std::string_view how, const std::string& text,
                          client::LiveSession& session) {
  protocol::Send send;
  send.how = how;
  send.text = text;
  ASSIGN_OR_RETURN(const protocol::Accepted accepted, session.Send(send));
  return CommandDone{.text = "", .turn_id = accepted.turn_id.value_or("")};
}

Result<CommandDone> Mark(std::string_view what, const std::string& id, const std::string& text,
                         client::LiveSession& session) {
  protocol::Mark mark;
  mark.what = what;
  mark.id = id;
  mark.text = text;
  ASSIGN_OR_RETURN(std::string said, session.Mark(mark));
  return CommandDone{.text = std::move(said), .turn_id = {}};
}

Result<CommandDone> RunCompact(const std::string& focus, client::LiveSession& session) {
  return Start("compact", focus, session);
}

Result<CommandDone> RunContinue(const std::string&, client::LiveSession& session) {
  return Start("continue", "", session);
}

Result<CommandDone> RunPin(const std::string& text, client::LiveSession& session) {
  if (text.empty()) return Fail(Code::kInvalid, "write the text behind it: /pin TEXT");
  return Mark("pin", "", text, session);
}

Result<CommandDone> RunUnpin(const std::string& id, client::LiveSession& session) {
  if (id.empty()) return Fail(Code::kInvalid, "name the pin: /unpin N");
  return Mark("unpin", id, "", session);
}

Result<CommandDone> RunPins(const std::string&, client::LiveSession& session) {
  ASSIGN_OR_RETURN(const protocol::RunReport report, session.Run());
  std::string text;
  for (std::size_t i = 0; i < report.pins.size(); ++i)
    text += fmt::format("{}. {}\n", i + 1, report.pins[i].text);
  return CommandDone{.text = text.empty() ? "Nothing is pinned." : text, .turn_id = {}};
}

Result<CommandDone> RunTitle(const std::string& title, client::LiveSession& session) {
  if (title.empty()) return Fail(Code::kInvalid, "write the title behind it: /title TEXT");
  protocol::Change change;
  change.title = title;
  RETURN_IF_ERROR(session.Change(change));
  return CommandDone{.text = "Titled: " + title, .turn_id = {}};
}

constexpr std::array kCommands = {
    Row{"compact", "Sums up what was said so far, to make room", "what is to be kept above all",
        RunCompact},
    Row{"continue", "Goes on with an interrupted turn, or with what is queued", "", RunContinue},
    Row{"pin", "Keeps a text before the model's eyes, whatever is compacted", "the text", RunPin},
    Row{"pins", "Lists what is pinned", "", RunPins},
    Row{"unpin", "Removes a pin", "its number", RunUnpin},
    Row{"title", "Names the session", "the title", RunTitle},
};

void WriteCommand(JsonWriter& writer, std::string_view name, std::string_view description,
                  std::string_view hint) {
  writer.BeginObject().Member("name", name).Member("description", description);
  if (!hint.empty()) writer.Key("input").BeginObject().Member("hint", hint).EndObject();
  writer.EndObject();
}

}  // namespace

void WriteCommands(JsonWriter& writer, const protocol::Texts& of_extensions) {
  writer.BeginArray();
  for (const Row& row : kCommands) WriteCommand(writer, row.name, row.description, row.hint);
  for (const std::string& name : of_extensions)
    WriteCommand(writer, name, "A command of an extension", "arguments");
  writer.EndArray();
}

std::optional<Command> ReadCommand(std::string_view text, const protocol::Texts& of_extensions) {
  text = Trimmed(text);
  if (!text.starts_with('/')) return std::nullopt;
  text.remove_prefix(1);
  const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
  const std::string_view name = text.substr(0, end);
  const bool known = std::ranges::find(kCommands, name, &Row::name) != kCommands.end() ||
                     std::ranges::find(of_extensions, name) != of_extensions.end();
  if (!known) return std::nullopt;
  return Command{.name = std::string(name), .argument = std::string(Trimmed(text.substr(end)))};
}

Result<CommandDone> RunCommand(const Command& command, client::LiveSession& session) {
  const auto* row = std::ranges::find(kCommands, command.name, &Row::name);
  if (row != kCommands.end()) return row->run(command.argument, session);
  ASSIGN_OR_RETURN(std::string text, session.Command(command.name, command.argument));
  return CommandDone{.text = std::move(text), .turn_id = {}};
}

}  // namespace stet::acp
