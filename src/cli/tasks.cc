#include "cli/tasks.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
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
    return Fail(
        Code::kNotFound,
        fmt::format("no task {} in this session: `stet tasks ls` lists its tasks", task_id));
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

/// What every verb about one task works with.
struct TaskWork {
  const TasksCommand& command;
  const std::string& session;
  client::Sessions& sessions;
  Terminal& terminal;
};

void TellLeftOut(const protocol::TaskOutput& first, const protocol::TaskOutput& last,
                 Terminal& terminal) {
  if (first.left_out > 0)
    terminal.Say(fmt::format("stet: {} bytes before this are left out; --all prints everything",
                             first.left_out));
  if (last.end < last.bytes)
    terminal.Say(fmt::format("stet: {} bytes behind this are left out; --offset {} goes on there",
                             last.bytes - last.end, last.end));
}

/// Part by part, so that no more than one is in memory.
Result<int> PrintTaskOutput(const TaskWork& work) {
  const auto& [command, session, sessions, terminal] = work;
  protocol::TaskRange range;
  range.offset = command.all ? protocol::OptionalInt(0) : command.offset;
  range.limit = command.limit;
  ASSIGN_OR_RETURN(
      const protocol::TaskOutput first,
      client::Await(sessions, &client::Sessions::TaskOutput, session, command.task_id, range));
  if (command.json) return PrintText(terminal, Encode(first) + "\n");
  protocol::TaskOutput part = first;
  const std::int64_t stop =
      command.limit ? first.left_out + std::min(*command.limit, first.bytes) : first.bytes;
  for (;;) {
    // A terminal is shown what it cannot be driven by; a pipe gets the bytes.
    if (!terminal.Print(terminal.stdout_is_terminal() ? PrintableText(part.text) : part.text))
      return kExitFailed;
    const bool more = range.offset && part.end < stop && part.end > part.left_out;
    if (!more) break;
    range.offset = part.end;
    range.limit = stop - part.end;
    ASSIGN_OR_RETURN(part, client::Await(sessions, &client::Sessions::TaskOutput, session,
                                         command.task_id, range));
  }
  TellLeftOut(first, part, terminal);
  return kExitDone;
}

/// Its row once it has ended, or as it is when that takes too long.
Result<protocol::TaskRow> AwaitTaskEnd(const TaskWork& work) {
  constexpr std::chrono::seconds kPatience{5};
  constexpr std::chrono::milliseconds kPause{20};
  const Deadline deadline = Deadline::After(kPatience);
  for (;;) {
    ASSIGN_OR_RETURN(const protocol::TaskRows rows,
                     client::Await(work.sessions, &client::Sessions::Tasks, work.session));
    ASSIGN_OR_RETURN(protocol::TaskRow row, FindRow(rows, work.command.task_id));
    if (row.state != "running" || deadline.Passed()) return row;
    std::this_thread::sleep_for(kPause);
  }
}

Result<int> StopOneTask(const TaskWork& work) {
  RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::StopTask, work.session,
                                work.command.task_id));
  ASSIGN_OR_RETURN(const protocol::TaskRow row, AwaitTaskEnd(work));
  if (work.command.json) return PrintText(work.terminal, Encode(row) + "\n");
  const std::string name = PrintableText(OneLineText(row.name));
  if (row.state == "running") {
    work.terminal.Say(fmt::format(
        "stet: {} ({}) was told to stop and still runs; `stet tasks show {}` tells when it has "
        "ended",
        row.task_id, name, row.task_id));
    return kExitFailed;
  }
  const std::string how = HowEnded(row);
  return PrintText(work.terminal, fmt::format("{} ({}) was stopped: {}{}\n", row.task_id, name,
                                              row.state, how.empty() ? "" : ", " + how));
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
  if (command.verb == "stop") return StopOneTask({command, session, sessions, terminal});
  if (command.verb == "output") return PrintTaskOutput({command, session, sessions, terminal});
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
