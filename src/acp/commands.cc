#include "acp/commands.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "acp/with_value.h"

namespace stet::acp {
namespace {

struct CommandHandler {
  std::string_view name;
  void (*run)(const std::string& argument, const CommandPlace& place, CommandResult done);
};

CommandDone Shown(std::string text) { return {.text = std::move(text), .turn_id = {}}; }

/// The session's answer, through the inbox: `done` hears what `read` makes of it.
template <class Read>
auto Then(const CommandPlace& place, CommandResult done, Read read) {
  return place.inbox.Then([done = std::move(done), read](auto answer) mutable {
    if (!answer) return done(std::unexpected(std::move(answer).error()));
    done(WithValue(read, std::move(answer)));
  });
}

void Start(std::string_view how, const std::string& text, const CommandPlace& place,
           CommandResult done) {
  protocol::Send send;
  send.how = how;
  send.text = text;
  place.session.Send(send, Then(place, std::move(done), [](const protocol::Accepted& accepted) {
                       return CommandDone{.text = "", .turn_id = accepted.turn_id.value_or("")};
                     }));
}

void RunCompact(const std::string& focus, const CommandPlace& place, CommandResult done) {
  Start("compact", focus, place, std::move(done));
}

void RunContinue(const std::string&, const CommandPlace& place, CommandResult done) {
  Start("continue", "", place, std::move(done));
}

void RunPin(const std::string& text, const CommandPlace& place, CommandResult done) {
  if (text.empty()) return done(Fail(Code::kInvalid, "write the text behind it: /pin TEXT"));
  protocol::Mark mark;
  mark.what = "pin";
  mark.text = text;
  place.session.Mark(mark, Then(place, std::move(done), Shown));
}

void RunUnpin(const std::string& id, const CommandPlace& place, CommandResult done) {
  if (id.empty()) return done(Fail(Code::kInvalid, "name the pin: /unpin N"));
  protocol::Mark mark;
  mark.what = "unpin";
  mark.id = id;
  place.session.Mark(mark, Then(place, std::move(done), Shown));
}

void RunPins(const std::string&, const CommandPlace& place, CommandResult done) {
  place.session.Run(Then(place, std::move(done), [](const protocol::RunReport& report) {
    std::string text;
    for (std::size_t i = 0; i < report.pins.size(); ++i)
      text += fmt::format("{}. {}\n", i + 1, report.pins[i].text);
    return Shown(text.empty() ? "Nothing is pinned." : text);
  }));
}

void RunTitle(const std::string& title, const CommandPlace& place, CommandResult done) {
  if (title.empty()) return done(Fail(Code::kInvalid, "write the title behind it: /title TEXT"));
  protocol::Change change;
  change.title = title;
  place.session.Change(change,
                       Then(place, std::move(done), [title] { return Shown("Titled: " + title); }));
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

void RunCommand(const client::ParsedLine& line, const CommandPlace& place, CommandResult done) {
  const auto* handler = std::ranges::find(kCommandHandlers, line.name, &CommandHandler::name);
  if (line.kind == client::ParsedLine::Kind::kCommand && handler != kCommandHandlers.end())
    return handler->run(line.argument, place, std::move(done));
  place.session.Command(line.name, line.argument, Then(place, std::move(done), Shown));
}

}  // namespace stet::acp
