#include "protocol/tasks.h"

#include <algorithm>

namespace stet::protocol {

TaskRow BegunTask(const Task& task, std::int64_t at) {
  TaskRow row;
  row.task_id = task.task_id;
  row.kind = task.kind;
  row.state = "running";
  row.name = task.name.value_or("");
  row.by = task.by;
  row.tool_call_id = task.tool_call_id;
  row.started_at = at;
  return row;
}

void TakeTaskEnd(const Task& task, std::int64_t at, TaskRow& row) {
  if (!task.ends()) return;
  row.state = task.phase == phase::kLost ? "lost" : task.status.value_or("completed");
  row.ended_at = std::max(at, row.started_at);
  row.exit = task.exit;
  row.signal = task.signal;
  row.tail = task.tail;
  row.output = task.output;
}

}  // namespace stet::protocol
