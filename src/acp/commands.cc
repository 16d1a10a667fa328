#include "acp/commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "client/await.h"

namespace stet::acp {
namespace {

struct CommandHandler {
  std::string_view name;
  Result<CommandDone> (*run)(const std::string& argument, client::LiveSession& session);
};

Result<CommandDone> Start(std::string_view how, const std::string& text,
                          client::LiveSession& session) {
  protocol::Send send;
  send.how = how;
  send.text = text;
  ASSIGN_OR_RETURN(const protocol::Accepted accepted,
                   client::Await(session, &client::LiveSession::Send, send));
  return CommandDone{.text = "", .turn_id = accepted.turn_id.value_or("")};
}

Result<CommandDone> Mark(std::string_view what, const std::string& id, const std::string& text,
                         client::LiveSession& session) {
  protocol::Mark mark;
  mark.what = what;
  mark.id = id;
  mark.text = text;
  ASSIGN_OR_RETURN(std::string said, client::Await(session, &client::LiveSession::Mark, mark));
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
  ASSIGN_OR_RETURN(const protocol::RunReport report,
                   client::Await(session, &client::LiveSession::Run));
  std::string text;
  for (std::size_t i = 0; i < report.pins.size(); ++i)
    text += fmt::format("{}. {}\n", i + 1, report.pins[i].text);
  return CommandDone{.text = text.empty() ? "Nothing is pinned." : text, .turn_id = {}};
}

Result<CommandDone> RunTitle(const std::string& title, client::LiveSession& session) {
  if (title.empty()) return Fail(Code::kInvalid, "write the title behind it: /title TEXT");
  protocol::Change change;
  change.title = title;
  RETURN_IF_ERROR(client::Await(session, &client::LiveSession::Change, change));
  return CommandDone{.text = "Titled: " + title, .turn_id = {}};
}

constexpr auto kCommandHandlers = std::to_array<CommandHandler>({
    {"compact", RunCompact},
    {"continue", RunContinue},
    {"pin", RunPin},
    {"pins", RunPins},
    {"unpin", RunUnpin},
    {"title", RunTitle},
});
static_assert(client::HandlesAll(kCommandHandlers, client::Face::kAcp));

/// Editors show a description as a sentence.
std::string Capitalized(std::string_view text) {
  std::string sentence(text);
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z') sentence[0] -= 'a' - 'A';
  return sentence;
}

void WriteCommand(JsonWriter& writer, std::string_view name, std::string_view description,
                  std::string_view hint) {
  writer.BeginObject().Member("name", name).Member("description", description);
  if (!hint.empty()) writer.Key("input").BeginObject().Member("hint", hint).EndObject();
  writer.EndObject();
}

}  // namespace

void WriteCommands(JsonWriter& writer, const protocol::Texts& of_extensions) {
  writer.BeginArray();
  for (const client::CommandRow& row : client::kCommands)
    if (row.in_acp) WriteCommand(writer, row.name, Capitalized(row.help), row.argument);
  for (const std::string& name : of_extensions)
    WriteCommand(writer, name, "A command of an extension", "arguments");
  writer.EndArray();
}

Result<CommandDone> RunCommand(const client::ParsedLine& line, client::LiveSession& session) {
  const auto* handler = std::ranges::find(kCommandHandlers, line.name, &CommandHandler::name);
  if (line.kind == client::ParsedLine::Kind::kCommand && handler != kCommandHandlers.end())
    return handler->run(line.argument, session);
  ASSIGN_OR_RETURN(std::string text,
                   client::Await(session, &client::LiveSession::Command, line.name, line.argument));
  return CommandDone{.text = std::move(text), .turn_id = {}};
}

}  // namespace stet::acp
