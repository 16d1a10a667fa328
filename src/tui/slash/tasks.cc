#include "tui/slash/tasks.h"

#include <fmt/format.h>

#include "base/display_width.h"
#include "face/tasks_view.h"

namespace stet::tui {
namespace {

/// Of what a task has written, its last bytes: a screen or two.
constexpr std::size_t kMaxShownBytes = 8000;

void ShowOutput(const std::string& id, CommandEnvironment& environment) {
  const auto show = [id, &environment](const protocol::TaskOutput& output) {
    std::string text = output.text;
    if (text.empty()) return environment.view.Note(fmt::format("{} has written nothing", id));
    if (text.size() > kMaxShownBytes) {
      const std::size_t line = text.find('\n', text.size() - kMaxShownBytes);
      text.erase(0, line == std::string::npos ? text.size() - kMaxShownBytes : line + 1);
      environment.view.Note(fmt::format("the end of it; `stet tasks output {}` prints more", id));
    }
    if (!text.ends_with('\n')) text += '\n';
    environment.view.Block(PrintableText(text));
  };
  environment.session.TaskOutput(id, environment.Then("output", show));
}

void ShowTasks(const protocol::TaskRows& rows, CommandEnvironment& environment) {
  if (rows.empty()) return environment.view.Note("nothing has run in the background");
  environment.view.Block(face::TasksText(rows, environment.console.columns(), SystemClock().Now()) +
                         "/tasks stop ID stops one, /tasks output ID shows what it has written\n");
}

}  // namespace

void RunTasksList(const std::string& argument, CommandEnvironment& environment) {
  const std::size_t blank = argument.find(' ');
  const std::string verb = argument.substr(0, blank);
  const std::string id =
      blank == std::string::npos ? "" : argument.substr(argument.find_first_not_of(' ', blank));
  if (verb == "output" && !id.empty()) return ShowOutput(id, environment);
  if (verb == "stop" && !id.empty())
    return environment.session.StopTask(id, environment.Then("stop", [id, &environment] {
      environment.view.Note(fmt::format("{} is being stopped", id));
    }));
  if (!argument.empty())
    return environment.view.Note("write /tasks, /tasks stop ID or /tasks output ID",
                                 face::Style::kRed);
  environment.session.Tasks(environment.Then(
      "tasks", [&environment](const protocol::TaskRows& rows) { ShowTasks(rows, environment); }));
}

}  // namespace stet::tui
