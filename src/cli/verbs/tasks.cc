// `stet tasks`: what runs in the background of a session.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/display_width.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/chosen_session.h"
#include "face/exit_codes.h"
#include "face/slow_notice.h"
#include "face/tasks_view.h"

namespace stet::cli {
namespace {

struct TasksArguments {
  std::string task_id;     // For all but ls.
  std::string session_id;  // As it was typed; empty: the newest of this folder.
  bool json = false;
  // Of the output:
  bool all = false;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> limit;
};

Result<protocol::TaskRow> FindRow(const protocol::TaskRows& rows, const std::string& task_id) {
  const auto found = std::ranges::find(rows, task_id, &protocol::TaskRow::task_id);
  if (found == rows.end())
    return Fail(
        Code::kNotFound,
        fmt::format("no task {} in this session: `stet tasks ls` lists its tasks", task_id));
  return *found;
}

Result<int> PrintText(face::Console& console, std::string_view text) {
  return console.PrintText(text) ? face::kExitDone : face::kExitFailed;
}

template <class T>
Result<int> PrintJson(face::Console& console, const T& value) {
  return console.PrintJson(Encode(value) + "\n") ? face::kExitDone : face::kExitFailed;
}

/// What every verb about one task works with.
struct TaskWork {
  const TasksArguments& command;
  const std::string& session;
  client::Sessions& sessions;
  face::Console& console;
};

void TellLeftOut(const protocol::TaskOutput& first, const protocol::TaskOutput& last,
                 face::Console& console) {
  if (first.left_out > 0)
    console.Say(fmt::format("stet: {} bytes before this are left out; --all prints everything",
                            first.left_out));
  if (last.end < last.bytes)
    console.Say(fmt::format("stet: {} bytes behind this are left out; --offset {} goes on there",
                            last.bytes - last.end, last.end));
}

/// Part by part, so that no more than one is in memory.
Result<int> PrintOutput(const TaskWork& work) {
  const auto& [command, session, sessions, console] = work;
  protocol::TaskRange range;
  range.offset = command.all ? protocol::OptionalInt(0) : command.offset;
  range.limit = command.limit;
  ASSIGN_OR_RETURN(
      const protocol::TaskOutput first,
      client::Await(sessions, &client::Sessions::TaskOutput, session, command.task_id, range));
  if (command.json) return PrintJson(console, first);
  protocol::TaskOutput part = first;
  const std::int64_t stop =
      command.limit ? first.left_out + std::min(*command.limit, first.bytes) : first.bytes;
  for (;;) {
    if (!console.PrintText(part.text)) return face::kExitFailed;
    const bool more = range.offset && part.end < stop && part.end > part.left_out;
    if (!more) break;
    range.offset = part.end;
    range.limit = stop - part.end;
    ASSIGN_OR_RETURN(part, client::Await(sessions, &client::Sessions::TaskOutput, session,
                                         command.task_id, range));
  }
  TellLeftOut(first, part, console);
  return face::kExitDone;
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
  std::optional<face::SlowNotice> slow;
  slow.emplace(work.console, "the background host to answer");
  RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::StopTask, work.session,
                                work.command.task_id));
  slow.reset();
  ASSIGN_OR_RETURN(const protocol::TaskRow row, AwaitTaskEnd(work));
  if (work.command.json) return PrintJson(work.console, row);
  const std::string id = PrintableText(row.task_id);
  const std::string name = PrintableText(OneLineText(row.name));
  if (row.state == "running") {
    work.console.Say(fmt::format(
        "stet: {} ({}) was told to stop and still runs; `stet tasks show {}` tells when it has "
        "ended",
        id, name, id));
    return face::kExitFailed;
  }
  const std::string how = face::HowEnded(row);
  return PrintText(work.console,
                   fmt::format("{} ({}) was stopped: {}{}\n", id, name, PrintableText(row.state),
                               how.empty() ? "" : ", " + how));
}

Result<int> ListTasks(const TasksArguments& command, client::Sessions& sessions,
                      face::Console& console) {
  ASSIGN_OR_RETURN(const std::string session,
                   face::ChosenSession(command.session_id, "", sessions));
  ASSIGN_OR_RETURN(const protocol::TaskRows rows,
                   client::Await(sessions, &client::Sessions::Tasks, session));
  if (command.json) return PrintJson(console, rows);
  if (rows.empty()) {
    console.Say("Nothing has run in this session's background.");
    return face::kExitDone;
  }
  return PrintText(console, face::TasksText(rows, console.columns(), SystemClock().Now()));
}

Result<int> ShowTask(const TasksArguments& command, client::Sessions& sessions,
                     face::Console& console) {
  ASSIGN_OR_RETURN(const std::string session,
                   face::ChosenSession(command.session_id, "", sessions));
  ASSIGN_OR_RETURN(const protocol::TaskRows rows,
                   client::Await(sessions, &client::Sessions::Tasks, session));
  ASSIGN_OR_RETURN(const protocol::TaskRow row, FindRow(rows, command.task_id));
  if (command.json) return PrintJson(console, row);
  return PrintText(console, face::TaskText(row, SystemClock().Now()));
}

Result<int> StopTask(const TasksArguments& command, client::Sessions& sessions,
                     face::Console& console) {
  ASSIGN_OR_RETURN(const std::string session,
                   face::ChosenSession(command.session_id, "", sessions));
  return StopOneTask({command, session, sessions, console});
}

Result<int> PrintTaskOutput(const TasksArguments& command, client::Sessions& sessions,
                            face::Console& console) {
  ASSIGN_OR_RETURN(const std::string session,
                   face::ChosenSession(command.session_id, "", sessions));
  return PrintOutput({command, session, sessions, console});
}

}  // namespace

VerbEntry TasksVerb() {
  return {"tasks", "Look at what runs in a session's background", [](Verb& tasks) {
            const auto given = std::make_shared<TasksArguments>();
            const Option task{.names = "TASK",
                              .target = &given->task_id,
                              .help = "Its id, as `stet tasks ls` shows it",
                              .required = true};
            const Option session{
                "SESSION", &given->session_id,
                "The session's id, or a beginning of it; the newest of this folder by default"};
            const Option json = JsonFlag(given->json);
            constexpr auto kSessions = &face::Clients::sessions;
            tasks.verbs = {
                {.name = "ls",
                 .help = "List what runs, and what has run",
                 .options = {session, json},
                 .run = Asks<kSessions>(given, ListTasks)},
                {.name = "show",
                 .help = "Show one task",
                 .options = {task, session, json},
                 .run = Asks<kSessions>(given, ShowTask)},
                {.name = "stop",
                 .help = "Stop a task and everything that it started; waits for its end",
                 .options = {task, session, json},
                 .run = Asks<kSessions>(given, StopTask)},
                {.name = "output",
                 .help = "Print what a task has written: the last 1 MB of it",
                 .options = {task,
                             session,
                             json,
                             {"--all", &given->all, "All of it, from the beginning"},
                             {.names = "--offset",
                              .target = &given->offset,
                              .help = "From this byte on",
                              .check = NotNegative(),
                              .excludes = "--all"},
                             {.names = "--limit",
                              .target = &given->limit,
                              .help = "At most so many bytes",
                              .check = Positive()}},
                 .run = Asks<kSessions>(given, PrintTaskOutput)},
            };
          }};
}

}  // namespace stet::cli
