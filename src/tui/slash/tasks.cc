#include "tui/slash/tasks.h"

#include <fmt/format.h>

#include "base/text_width.h"
#include "face/tasks_view.h"

namespace stet::tui {
namespace {

/// Of what a task has written, its last bytes: a screen or two.
constexpr std::size_t kMaxShownBytes = 8000;

void ShowOutput(const std::string& id, Desk& desk) {
  const auto show = [id, &desk](const protocol::TaskOutput& output) {
    std::string text = output.text;
    if (text.empty()) return desk.view.Note(fmt::format("{} has written nothing", id));
    if (text.size() > kMaxShownBytes) {
      const std::size_t line = text.find('\n', text.size() - kMaxShownBytes);
      text.erase(0, line == std::string::npos ? text.size() - kMaxShownBytes : line + 1);
      desk.view.Note(fmt::format("the end of it; `stet tasks output {}` prints more", id));
    }
    if (!text.ends_with('\n')) text += '\n';
    desk.view.Block(PrintableText(text));
  };
  desk.session.TaskOutput(id, desk.Then("output", show));
}

void ShowTasks(const protocol::TaskRows& rows, Desk& desk) {
  if (rows.empty()) return desk.view.Note("nothing has run in the background");
  desk.view.Block(face::TasksText(rows, desk.console.columns(), SystemClock().Now()) +
                  "/tasks stop ID stops one, /tasks output ID shows what it has written\n");
}

}  // namespace

void RunTasksList(const std::string& argument, Desk& desk) {
  const std::size_t blank = argument.find(' ');
  const std::string verb = argument.substr(0, blank);
  const std::string id =
      blank == std::string::npos ? "" : argument.substr(argument.find_first_not_of(' ', blank));
  if (verb == "output" && !id.empty()) return ShowOutput(id, desk);
  if (verb == "stop" && !id.empty())
    return desk.session.StopTask(id, desk.Then("stop", [id, &desk] {
      desk.view.Note(fmt::format("{} is being stopped", id));
    }));
  if (!argument.empty())
    return desk.view.Note("write /tasks, /tasks stop ID or /tasks output ID", face::Style::kRed);
  desk.session.Tasks(
      desk.Then("tasks", [&desk](const protocol::TaskRows& rows) { ShowTasks(rows, desk); }));
}

}  // namespace stet::tui
