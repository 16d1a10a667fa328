#include "tui/slash/slash.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "base/text_width.h"
#include "face/cost_view.h"
#include "face/hooks_view.h"
#include "face/requests_view.h"
#include "tui/slash/marks.h"
#include "tui/slash/rewind.h"
#include "tui/slash/tasks.h"

namespace stet::tui {
namespace {

/// Takes the first word off.
std::string TakeWord(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string word(text.substr(0, end));
  text = Trimmed(text.substr(end));
  return word;
}

void RunHelp(const std::string&, Desk& desk);

/// Makes the change, then tells `what` it is now.
void Change(const protocol::Change& change, std::string_view what, Desk& desk) {
  const auto tell = [what, &desk] {
    const protocol::LiveState& state = desk.state;
    const std::string& now = what == "model"    ? state.model
                             : what == "effort" ? state.effort
                                                : state.mode;
    desk.view.Note(fmt::format("{}: {}", what, now));
  };
  desk.session.Change(change, desk.Then(what, [&desk, tell] { desk.Refreshed(tell); }));
}

void RunModel(const std::string& name, Desk& desk) {
  if (name.empty())
    return desk.Refreshed([&desk] {
      desk.view.Note(fmt::format("model: {}; /model NAME changes it, `stet models` lists them",
                                 desk.state.model));
    });
  protocol::Change change;
  change.model = name;
  Change(change, "model", desk);
}

void RunEffort(const std::string& level, Desk& desk) {
  if (level.empty())
    return desk.Refreshed([&desk] {
      const std::string& now = desk.state.effort;
      desk.view.Note(fmt::format("effort: {}; one of none, minimal, low, medium, high, xhigh, max",
                                 now.empty() ? "the model's own" : now));
    });
  protocol::Change change;
  change.effort = level;
  Change(change, "effort", desk);
}

void RunMode(const std::string& mode, Desk& desk) {
  if (mode.empty())
    return desk.Refreshed([&desk] {
      desk.view.Note(fmt::format(
          "mode: {}; one of default, acceptEdits, auto, plan, dontAsk, bypass", desk.state.mode));
    });
  protocol::Change change;
  change.mode = mode;
  Change(change, "mode", desk);
}

void ShowPermissions(const protocol::PermissionReport& report, Desk& desk) {
  std::string text = fmt::format("mode: {}{}\n", report.mode,
                                 report.sandboxed ? ", commands run in a sandbox" : "");
  for (const protocol::RuleRow& row : report.rules)
    text += fmt::format("  {:<6} {}  {}\n", row.verdict, PrintableText(row.rule),
                        desk.console.Styled(face::Style::kDim, row.source));
  if (report.excludes)
    text += "  files of the project are excluded (.stetignore, [policy] exclude)\n";
  desk.view.Block(text);
}

void RunPermissions(const std::string&, Desk& desk) {
  desk.session.Permissions(desk.Then(
      "permissions",
      [&desk](const protocol::PermissionReport& report) { ShowPermissions(report, desk); }));
}

void RunTitle(const std::string& title, Desk& desk) {
  if (title.empty())
    return desk.view.Note("write the title behind it: /title TEXT", face::Style::kRed);
  protocol::Change change;
  change.title = title;
  desk.session.Change(change,
                      desk.Then("title", [title, &desk] { desk.view.Note("titled: " + title); }));
}

void RunCost(const std::string&, Desk& desk) {
  desk.sessions.Cost(desk.state.session_id,
                     desk.Then("cost", [&desk](const protocol::CostReport& cost) {
                       desk.view.Block(face::CostText(cost));
                     }));
}

void RunContext(const std::string&, Desk& desk) {
  desk.sessions.Context(desk.state.session_id, {},
                        desk.Then("context", [&desk](const protocol::ContextReport& report) {
                          desk.view.Block(face::ContextText(report));
                        }));
}

void RunHooksList(const std::string&, Desk& desk) {
  desk.device.Hooks(desk.state.project, desk.Then("hooks", [&desk](const protocol::HookRows& rows) {
    desk.view.Block(face::HooksText(rows));
  }));
}

/// Sends what begins a turn without a message.
void Start(std::string_view how, const std::string& text, Desk& desk) {
  protocol::Send send;
  send.how = how;
  send.text = text;
  desk.session.Send(send, desk.Then(how, [&desk](const protocol::Accepted& accepted) {
    desk.begin(accepted.turn_id);
  }));
}

void RunCompact(const std::string& focus, Desk& desk) { Start("compact", focus, desk); }

void RunExport(const std::string& file, Desk& desk) {
  client::ExportWanted wanted;
  wanted.session_id = desk.state.session_id;
  wanted.path = file.empty() ? wanted.session_id + ".tar" : file;
  if (wanted.path.ends_with(".jsonl")) wanted.format = client::ExportFormat::kJsonl;
  desk.sessions.Export(wanted, desk.Then("export", [path = wanted.path, &desk] {
    desk.view.Note("written: " + path);
  }));
}

void RunContinue(const std::string&, Desk& desk) { Start("continue", "", desk); }

void RunResume(const std::string& id, Desk& desk) {
  if (desk.view.running())
    return desk.view.Note("a turn runs: stop it with Ctrl-C first", face::Style::kRed);
  const auto go = [&desk](const std::string& session) {
    desk.leave({.exit_code = 0, .next_session = session});
  };
  if (!id.empty()) return desk.sessions.Resolve(id, desk.Then("sessions", go));
  desk.sessions.List(
      false, desk.Then("sessions", [&desk, go](const std::vector<protocol::SessionSummary>& all) {
        if (const std::optional<std::string> picked = desk.pick_session(all)) go(*picked);
      }));
}

struct Queued {
  std::string queue;
  std::size_t place;
  std::string text;
};

std::vector<Queued> QueueOf(const protocol::LiveState& state) {
  std::vector<Queued> all;
  for (std::size_t i = 0; i < state.steers.size(); ++i)
    all.push_back({"steer", i, protocol::PlainText(state.steers[i].content)});
  for (std::size_t i = 0; i < state.follow_ups.size(); ++i)
    all.push_back({"follow_up", i, protocol::PlainText(state.follow_ups[i].content)});
  return all;
}

void ShowQueue(const std::vector<Queued>& queue, Desk& desk) {
  if (queue.empty()) return desk.view.Note("nothing is queued");
  std::string rows;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::string row =
        fmt::format("{:>3}  {}  {}", i + 1, queue[i].queue == "steer" ? "steers" : "follows",
                    OneLineText(queue[i].text));
    rows += FitText(PrintableText(row), desk.console.columns() - 1) + "\n";
  }
  desk.view.Block(rows + "/queue rm N removes one, /queue edit N TEXT changes it\n");
}

void ChangeQueue(const std::string& argument, Desk& desk) {
  const std::vector<Queued> queue = QueueOf(desk.state);
  std::string_view rest = argument;
  const std::string verb = TakeWord(rest);
  const std::string number = TakeWord(rest);
  std::size_t which = 0;
  std::from_chars(number.data(), number.data() + number.size(), which);
  const bool edit = verb == "edit";
  if ((!edit && verb != "rm") || which < 1 || which > queue.size() || (edit && rest.empty()))
    return desk.view.Note("write /queue, /queue rm N or /queue edit N TEXT", face::Style::kRed);
  const Queued& chosen = queue[which - 1];
  protocol::QueueItems items = chosen.queue == "steer" ? desk.state.steers : desk.state.follow_ups;
  if (edit) {
    protocol::TextBlock text;
    text.text = rest;
    items[chosen.place].content = {protocol::Block(std::move(text))};
  } else {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(chosen.place));
  }
  desk.session.RewriteQueue(chosen.queue, items, desk.Then("queue", [&desk] {
    desk.Refreshed([&desk] { ShowQueue(QueueOf(desk.state), desk); });
  }));
}

/// `argument`: nothing, "rm N", or "edit N TEXT".
void RunQueue(const std::string& argument, Desk& desk) {
  desk.Refreshed([argument, &desk] {
    if (argument.empty()) return ShowQueue(QueueOf(desk.state), desk);
    ChangeQueue(argument, desk);
  });
}

void RunQuit(const std::string&, Desk& desk) { desk.leave({}); }

struct SlashHandler {
  std::string_view name;
  void (*run)(const std::string& argument, Desk& desk);
};

constexpr auto kSlashHandlers = std::to_array<SlashHandler>({
    {"help", RunHelp},
    {"model", RunModel},
    {"effort", RunEffort},
    {"mode", RunMode},
    {"permissions", RunPermissions},
    {"cost", RunCost},
    {"context", RunContext},
    {"hooks", RunHooksList},
    {"pin", RunPin},
    {"pins", RunPins},
    {"unpin", RunUnpin},
    {"snip", RunSnip},
    {"unsnip", RunUnsnip},
    {"gate", RunGate},
    {"questions", RunQuestions},
    {"plan", RunPlan},
    {"rewind", RunRewind},
    {"branch", RunBranch},
    {"resume", RunResume},
    {"continue", RunContinue},
    {"queue", RunQueue},
    {"compact", RunCompact},
    {"tasks", RunTasksList},
    {"export", RunExport},
    {"title", RunTitle},
    {"quit", RunQuit},
});
static_assert(client::HandlesAll(kSlashHandlers, client::Face::kTerminal));

void RunHelp(const std::string&, Desk& desk) { desk.view.Block(SlashHelp(desk.state.commands)); }

/// Runs a command that an extension brought, and shows what it says.
void RunExtended(const client::ParsedLine& line, Desk& desk) {
  desk.session.Command(line.name, line.argument,
                       desk.Then("/" + line.name, [&desk](const std::string& text) {
                         if (!text.empty()) desk.view.Block(text + "\n");
                       }));
}

}  // namespace

std::string SlashHelp(const protocol::Texts& of_extensions) {
  std::string rows;
  for (const client::CommandRow& row : client::kCommands)
    if (row.in_terminal)
      rows += fmt::format("  {:<28} {}\n", fmt::format("/{} {}", row.name, row.argument), row.help);
  for (const std::string& name : of_extensions)
    rows += fmt::format("  {:<28} an extension's\n", "/" + name);
  return rows +
         "\n  Enter sends; Alt-Enter or a \\ at the end makes a new line.\n"
         "  While a turn runs: Enter queues, a line that begins with ! steers, Ctrl-C stops.\n"
         "  Ctrl-D on an empty line, or Ctrl-C twice, quits; Tab completes a command.\n";
}

void RunSlash(const client::ParsedLine& line, Desk& desk) {
  using Kind = client::ParsedLine::Kind;
  if (line.kind == Kind::kExtension) return RunExtended(line, desk);
  const auto* handler = std::ranges::find(kSlashHandlers, line.name, &SlashHandler::name);
  if (line.kind == Kind::kCommand && handler != kSlashHandlers.end())
    return handler->run(line.argument, desk);
  desk.view.Note(line.nearest.empty()
                     ? fmt::format("there is no /{}; /help lists what there is", line.name)
                     : fmt::format("there is no /{}; did you mean /{}?", line.name, line.nearest),
                 face::Style::kRed);
}

}  // namespace stet::tui
