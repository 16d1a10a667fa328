#include "agent/task_rows.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/clock.h"

namespace stet::agent {
namespace {

/// `at` is when it happened: of a task that was lost, when anything was last heard of it.
void TakeTask(Millis at, const protocol::Task& task, protocol::TaskRows& rows) {
  auto row = std::ranges::find(rows, task.task_id, &protocol::TaskRow::task_id);
  if (row == rows.end()) row = rows.insert(rows.end(), protocol::BegunTask(task, at));
  protocol::TakeTaskEnd(task, at, *row);
}

}  // namespace

Result<protocol::TaskRows> ReadTasks(const log::Log& log) {
  protocol::TaskRows rows;
  const std::vector<log::Entry>& entries = log.index().entries();
  log::Ordinal before_opening = log::kNone;  // The last event of the process before.
  for (log::Ordinal at = 0; at < entries.size(); ++at) {
    if (entries[at].type == protocol::kTypeNumber<protocol::Opened>)
      before_opening = at > 0 ? at - 1 : log::kNone;
    if (entries[at].type != protocol::kTypeNumber<protocol::Task>) continue;
    ASSIGN_OR_RETURN(const protocol::Event event, log.EventAt(at));
    const auto* task = std::get_if<protocol::Task>(&event.payload);
    if (task == nullptr) continue;
    Millis moment = event.stamp.ts;
    // The process that opens the log notes the loss, maybe days later.
    if (task->phase == protocol::phase::kLost && before_opening != log::kNone) {
      if (const auto last = log.EventAt(before_opening)) moment = last->stamp.ts;
    }
    TakeTask(moment, *task, rows);
  }
  return rows;
}

Result<protocol::TaskRow> FindTask(const protocol::TaskRows& rows, const std::string& task_id) {
  const auto found = std::ranges::find(rows, task_id, &protocol::TaskRow::task_id);
  if (found != rows.end()) return *found;
  std::string ids;
  for (const protocol::TaskRow& row : rows) ids += (ids.empty() ? "" : ", ") + row.task_id;
  return Fail(Code::kNotFound,
              ids.empty()
                  ? fmt::format("no task {}: nothing has run in this session's background", task_id)
                  : fmt::format("no task {}: this session's tasks are {}", task_id, ids));
}

std::int64_t NextTaskNumber(const log::Log& log, const protocol::TaskRows& rows) {
  // A copy's messages speak of its origin's tasks, which are not copied: each had a call, and so a
  // result.
  std::int64_t last = log.header().cloned_from ? log.index().state().tool_results : 0;
  if (!rows.empty()) last = 0;
  for (const protocol::TaskRow& row : rows) {
    const std::size_t dash = row.task_id.rfind('-');
    std::int64_t number = 0;
    const char* end = row.task_id.data() + row.task_id.size();
    if (dash != std::string::npos) std::from_chars(row.task_id.data() + dash + 1, end, number);
    last = std::max(last, number);
  }
  return last + 1;
}

}  // namespace stet::agent
