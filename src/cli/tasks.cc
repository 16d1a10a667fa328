#include "cli/tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text_width.h"
#include "cli/chosen_session.h"
#include "cli/exit_codes.h"
#include "client/await.h"

namespace stet::cli {
namespace {

constexpr Millis kMillisPerSecond = 1000;

/// How long it has run, or did.
std::string RanFor(const protocol::TaskRow& row, Millis now) {
  const Millis seconds =
      std::max<Millis>(row.ended_at.value_or(now) - row.started_at, 0) / kMillisPerSecond;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string HowEnded(const protocol::TaskRow& row) {
  if (row.signal) return fmt::format("signal {}", *row.signal);
  if (row.exit) return fmt::format("exit {}", *row.exit);
  if (row.held_by) return fmt::format("process {}", *row.held_by);
  return "";
}

Result<protocol::TaskRow> FindRow(const protocol::TaskRows& rows, const std::string& task_id) {
  const auto found = std::ranges::find(rows, task_id, &protocol::TaskRow::task_id);
  if (found == rows.end())
    return Fail(Code::kNotFound,
                fmt::format("there is no task {}; `stet tasks ls` lists them", task_id));
  return *found;
}

std::string TaskDetails(const protocol::TaskRow& row, Millis now) {
  std::string text = fmt::format("{}  {}\n", row.task_id, row.state);
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<9}{}\n", name, PrintableText(value));
  };
  add("kind", row.kind);
  add("name", row.name);
  add("by", row.by.value_or(""));
  add("call", row.tool_call_id.value_or(""));
  add("ran for", RanFor(row, now));
  add("end", HowEnded(row));
  add("output", row.output.value_or(""));
  return text;
}

Result<int> PrintText(Terminal& terminal, std::string_view text) {
  return terminal.Print(text) ? kExitDone : kExitFailed;
}

Result<int> PrintTaskOutput(const protocol::TaskOutput& output, Terminal& terminal) {
  if (output.left_out > 0)
    terminal.Say(fmt::format("stet: the first {} bytes are left out", output.left_out));
  // A terminal is shown what it cannot be driven by; a pipe gets the bytes.
  return PrintText(terminal,
                   terminal.stdout_is_terminal() ? PrintableText(output.text) : output.text);
}

}  // namespace

std::string TasksText(const protocol::TaskRows& rows, std::size_t columns, Millis now) {
  std::string text;
  for (const protocol::TaskRow& row : rows) {
    const std::string line = fmt::format("{:<10} {:<9} {:>8}  {:<14} {}", row.task_id, row.state,
                                         RanFor(row, now), HowEnded(row), OneLineText(row.name));
    text += FitText(PrintableText(line), std::max<std::size_t>(columns, 2) - 1) + "\n";
  }
  return text;
}

Result<int> RunTasks(const TasksCommand& command, client::Sessions& sessions, Terminal& terminal) {
  ASSIGN_OR_RETURN(const std::string session, ChosenSession(command.session_id, "", sessions));
  if (command.verb == "stop") {
    RETURN_IF_ERROR(client::Await(sessions, &client::Sessions::StopTask, session, command.task_id));
    return command.json ? PrintText(terminal, "{}\n") : kExitDone;
  }
  if (command.verb == "output") {
    ASSIGN_OR_RETURN(
        const protocol::TaskOutput output,
        client::Await(sessions, &client::Sessions::TaskOutput, session, command.task_id));
    return command.json ? PrintText(terminal, Encode(output) + "\n")
                        : PrintTaskOutput(output, terminal);
  }
  const Millis now = SystemClock().Now();
  ASSIGN_OR_RETURN(const protocol::TaskRows rows,
                   client::Await(sessions, &client::Sessions::Tasks, session));
  if (command.verb == "show") {
    ASSIGN_OR_RETURN(const protocol::TaskRow row, FindRow(rows, command.task_id));
    return PrintText(terminal, command.json ? Encode(row) + "\n" : TaskDetails(row, now));
  }
  if (command.json) return PrintText(terminal, Encode(rows) + "\n");
  if (rows.empty()) {
    terminal.Say("Nothing has run in this session's background.");
    return kExitDone;
  }
  return PrintText(terminal, TasksText(rows, terminal.columns(), now));
}

}  // namespace stet::cli
