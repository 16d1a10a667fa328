#include "tui/slash/slash.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/display_width.h"
#include "base/text.h"
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

void RunHelp(const std::string&, CommandEnvironment& environment);

/// One of the settings that a command shows and changes.
struct Setting {
  std::string_view name;
  std::string client::SceneSettings::* shown;
  protocol::Text protocol::LiveState::* known;
  protocol::OptionalText protocol::Change::* changed;
  bool at_once;  // Else it holds for the turns to come.
};
constexpr Setting kModelSetting{"model", &client::SceneSettings::model, &protocol::LiveState::model,
                                &protocol::Change::model, false};
constexpr Setting kEffortSetting{"effort", &client::SceneSettings::effort,
                                 &protocol::LiveState::effort, &protocol::Change::effort, false};
constexpr Setting kModeSetting{"mode", &client::SceneSettings::mode, &protocol::LiveState::mode,
                               &protocol::Change::mode, true};

/// Makes the change. The line that tells it is the scene's; without one the host is asked what is
/// so: it was so before, or waits for the end of the turn.
void Change(const Setting& setting, const std::string& value, CommandEnvironment& environment) {
  protocol::Change change;
  change.*setting.changed = value;
  const std::string before = environment.scene.settings().*setting.shown;
  const auto tell = [&setting, value, before, &environment](const protocol::LiveState& now) {
    const std::string& is = now.*setting.known;
    if (is != before) return;
    const bool waits = environment.scene.turn().running && !setting.at_once;
    environment.view.Note(waits
                              ? fmt::format("{}: {}, when the turn has ended", setting.name, value)
                              : fmt::format("{}: {}", setting.name, is));
  };
  environment.session.Change(change, environment.Then(setting.name, [&environment, tell] {
    environment.session.State(environment.Then("state", tell));
  }));
}

void RunModel(const std::string& name, CommandEnvironment& environment) {
  if (!name.empty()) return Change(kModelSetting, name, environment);
  environment.view.Note(fmt::format("model: {}; /model NAME changes it, `stet models` lists them",
                                    environment.scene.settings().model));
}

void RunEffort(const std::string& level, CommandEnvironment& environment) {
  if (!level.empty()) return Change(kEffortSetting, level, environment);
  const std::string& now = environment.scene.settings().effort;
  environment.view.Note(
      fmt::format("effort: {}; one of none, minimal, low, medium, high, xhigh, max",
                  now.empty() ? "the model's own" : now));
}

void RunMode(const std::string& mode, CommandEnvironment& environment) {
  if (!mode.empty()) return Change(kModeSetting, mode, environment);
  environment.view.Note(
      fmt::format("mode: {}; one of default, acceptEdits, auto, plan, dontAsk, bypass",
                  environment.scene.settings().mode));
}

void ShowPermissions(const protocol::PermissionReport& report, CommandEnvironment& environment) {
  std::string text = fmt::format("mode: {}{}\n", report.mode,
                                 report.sandboxed ? ", commands run in a sandbox" : "");
  bool granted = false;
  for (const protocol::RuleRow& row : report.rules) {
    const std::string where = row.file.empty() ? row.source : row.source + ", " + row.file;
    text += fmt::format("  {:<6} {}  {}\n", row.verdict, PrintableText(OneLineText(row.rule)),
                        environment.console.Styled(face::Style::kDim, PrintableText(where)));
    granted = granted || row.granted;
  }
  if (granted) text += "  /permissions forget RULE takes back what you granted\n";
  if (report.excludes)
    text += "  files of the project are excluded (.stetignore, [policy] exclude)\n";
  environment.view.Block(text);
}

void RunPermissions(const std::string& argument, CommandEnvironment& environment) {
  constexpr std::string_view kForget = "forget";
  if (argument.starts_with(kForget)) {
    protocol::Change change;
    change.forget = std::string(Trimmed(std::string_view(argument).substr(kForget.size())));
    const std::string said = "forgotten: " + *change.forget;
    return environment.session.Change(change, environment.Then("permissions", [said, &environment] {
      environment.view.Note(said);
    }));
  }
  if (!argument.empty())
    return environment.view.Note("write /permissions, or /permissions forget RULE",
                                 face::Style::kRed);
  environment.session.Permissions(
      environment.Then("permissions", [&environment](const protocol::PermissionReport& report) {
        ShowPermissions(report, environment);
      }));
}

void RunTitle(const std::string& title, CommandEnvironment& environment) {
  if (title.empty())
    return environment.view.Note("write the title behind it: /title TEXT", face::Style::kRed);
  protocol::Change change;
  change.title = title;
  environment.session.Change(change, environment.Then("title", [title, &environment] {
    environment.view.Note("titled: " + title);
  }));
}

void RunCost(const std::string&, CommandEnvironment& environment) {
  environment.sessions.Cost(
      environment.scene.session().session_id,
      environment.Then("cost", [&environment](const protocol::CostReport& cost) {
        environment.view.Block(face::CostText(cost));
      }));
}

void RunContext(const std::string&, CommandEnvironment& environment) {
  environment.sessions.Context(
      environment.scene.session().session_id, {},
      environment.Then("context", [&environment](const protocol::ContextReport& report) {
        environment.view.Block(face::ContextText(report));
      }));
}

void RunHooksList(const std::string&, CommandEnvironment& environment) {
  environment.device.Hooks(
      environment.scene.session().project,
      environment.Then("hooks", [&environment](const protocol::HookRows& rows) {
        environment.view.Block(face::HooksText(rows));
      }));
}

/// Sends what begins a turn without a message.
void Start(std::string_view how, const std::string& text, CommandEnvironment& environment) {
  protocol::Send send;
  send.how = how;
  send.text = text;
  environment.session.Send(
      send, environment.Then(how, [&environment](const protocol::Accepted& accepted) {
        environment.began(accepted.turn_id);
      }));
}

void RunCompact(const std::string& focus, CommandEnvironment& environment) {
  Start("compact", focus, environment);
}

void RunExport(const std::string& file, CommandEnvironment& environment) {
  client::ExportWanted wanted;
  wanted.session_id = environment.scene.session().session_id;
  wanted.path = file.empty() ? wanted.session_id + ".tar" : file;
  if (wanted.path.ends_with(".jsonl")) wanted.format = client::ExportFormat::kJsonl;
  environment.sessions.Export(wanted,
                              environment.Then("export", [path = wanted.path, &environment] {
                                environment.view.Note("written: " + path);
                              }));
}

void RunContinue(const std::string&, CommandEnvironment& environment) {
  Start("continue", "", environment);
}

void RunResume(const std::string& id, CommandEnvironment& environment) {
  if (environment.scene.turn().running)
    return environment.view.Note("a turn runs: stop it with Ctrl-C first", face::Style::kRed);
  const auto go = [&environment](const std::string& session) {
    environment.leave({.exit_code = 0, .next_session = session});
  };
  if (!id.empty()) return environment.sessions.Resolve(id, environment.Then("sessions", go));
  environment.sessions.List(
      false, environment.Then(
                 "sessions", [&environment, go](const std::vector<protocol::SessionSummary>& all) {
                   if (const std::optional<std::string> picked = environment.pick_session(all))
                     go(*picked);
                 }));
}

struct Queued {
  std::string queue;
  std::size_t place;
  std::string text;
};

std::vector<Queued> QueueOf(const protocol::QueueItems& steers,
                            const protocol::QueueItems& follow_ups) {
  std::vector<Queued> all;
  for (std::size_t i = 0; i < steers.size(); ++i)
    all.push_back({"steer", i, protocol::PlainText(steers[i].content)});
  for (std::size_t i = 0; i < follow_ups.size(); ++i)
    all.push_back({"follow_up", i, protocol::PlainText(follow_ups[i].content)});
  return all;
}

void ShowQueue(const std::vector<Queued>& queue, CommandEnvironment& environment) {
  if (queue.empty()) return environment.view.Note("nothing is queued");
  std::string rows;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::string row =
        fmt::format("{:>3}  {}  {}", i + 1, queue[i].queue == "steer" ? "steers" : "follows",
                    OneLineText(queue[i].text));
    rows += FitText(PrintableText(row), environment.console.columns() - 1) + "\n";
  }
  environment.view.Block(rows + "/queue rm N removes one, /queue edit N TEXT changes it\n");
}

/// `argument`: nothing, "rm N", or "edit N TEXT".
void RunQueue(const std::string& argument, CommandEnvironment& environment) {
  const client::Scene& scene = environment.scene;
  const std::vector<Queued> queue = QueueOf(scene.steers(), scene.follow_ups());
  if (argument.empty()) return ShowQueue(queue, environment);
  std::string_view rest = argument;
  const std::string verb = TakeWord(rest);
  const std::string number = TakeWord(rest);
  std::size_t which = 0;
  std::from_chars(number.data(), number.data() + number.size(), which);
  const bool edit = verb == "edit";
  if ((!edit && verb != "rm") || which < 1 || which > queue.size() || (edit && rest.empty()))
    return environment.view.Note("write /queue, /queue rm N or /queue edit N TEXT",
                                 face::Style::kRed);
  const Queued& chosen = queue[which - 1];
  const bool steers = chosen.queue == "steer";
  protocol::QueueItems items = steers ? scene.steers() : scene.follow_ups();
  if (edit) {
    protocol::TextBlock text;
    text.text = rest;
    items[chosen.place].content = {protocol::Block(std::move(text))};
  } else {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(chosen.place));
  }
  environment.session.RewriteQueue(
      chosen.queue, items, environment.Then("queue", [steers, items, &scene, &environment] {
        ShowQueue(steers ? QueueOf(items, scene.follow_ups()) : QueueOf(scene.steers(), items),
                  environment);
      }));
}

void RunQuit(const std::string&, CommandEnvironment& environment) { environment.leave({}); }

struct SlashHandler {
  std::string_view name;
  void (*run)(const std::string& argument, CommandEnvironment& environment);
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

void RunHelp(const std::string&, CommandEnvironment& environment) {
  environment.view.Block(SlashHelp(environment.scene.session().commands));
}

/// Runs a command that an extension brought, and shows what it says.
void RunExtended(const client::ParsedLine& line, CommandEnvironment& environment) {
  environment.session.Command(
      line.name, line.argument,
      environment.Then("/" + line.name, [&environment](const std::string& text) {
        if (!text.empty()) environment.view.Block(text + "\n");
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
         "  While a turn runs: Enter queues, a line that begins with ! steers, Ctrl-C or Esc "
         "stops.\n"
         "  Ctrl-D on an empty line, or Ctrl-C twice, quits; Tab completes a command.\n";
}

void RunSlash(const client::ParsedLine& line, CommandEnvironment& environment) {
  using Kind = client::ParsedLine::Kind;
  if (line.kind == Kind::kExtension) return RunExtended(line, environment);
  const auto* handler = std::ranges::find(kSlashHandlers, line.name, &SlashHandler::name);
  if (line.kind == Kind::kCommand && handler != kSlashHandlers.end())
    return handler->run(line.argument, environment);
  environment.view.Note(
      line.nearest.empty()
          ? fmt::format("there is no /{}; /help lists what there is", line.name)
          : fmt::format("there is no /{}; did you mean /{}?", line.name, line.nearest),
      face::Style::kRed);
}

}  // namespace stet::tui
