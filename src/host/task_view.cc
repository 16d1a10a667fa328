#include "host/task_view.h"

#include <fmt/format.h>

#include "agent/task_rows.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "host/session_store.h"
#include "host/vault.h"
#include "log/paths.h"

namespace stet::host {

Result<protocol::TaskRows> TasksIn(const std::string& session_dir) {
  // Read before the log: else the holder could write a task's end and leave in between, and the
  // task would be called lost.
  const std::optional<LockHolder> holder = FileLock::Holder(log::Paths{session_dir}.lock());
  ASSIGN_OR_RETURN(const std::unique_ptr<log::Log> log, log::Log::Open(session_dir, {}));
  ASSIGN_OR_RETURN(protocol::TaskRows rows, agent::ReadTasks(*log));
  for (protocol::TaskRow& row : rows) {
    if (row.state != "running") continue;
    if (holder)
      row.held_by = holder->pid;
    else
      row.state = "lost";
  }
  return rows;
}

protocol::TaskOutput TaskOutputOf(std::string bytes, bool running) {
  protocol::TaskOutput output;
  output.running = running;
  if (bytes.size() > kMaxTaskOutput) {
    output.left_out = static_cast<std::int64_t>(bytes.size() - kMaxTaskOutput);
    bytes.erase(0, bytes.size() - kMaxTaskOutput);
  }
  output.text = ReplaceInvalidUtf8(bytes);
  return output;
}

Result<std::string> KeptOutput(const log::Blobs& blobs, const protocol::TaskRow& row) {
  const protocol::OptionalText& name = row.output ? row.output : row.tail;
  return name ? blobs.Get(*name) : std::string();
}

Result<protocol::TaskOutput> TaskOutputIn(const config::Roots& roots, const std::string& session_id,
                                          const std::string& task_id) {
  ASSIGN_OR_RETURN(const std::string session_dir, SessionStore(roots).Find(session_id));
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, TasksIn(session_dir));
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, task_id));
  const log::Paths paths{session_dir};
  if (row.ended_at) {
    ASSIGN_OR_RETURN(std::string bytes, KeptOutput(log::Blobs(paths.blobs()), row));
    return TaskOutputOf(std::move(bytes), false);
  }
  Result<std::string> bytes = ReadFile(paths.tasks() + "/" + row.task_id);
  if (!bytes && bytes.error().code == Code::kNotFound) bytes = std::string();
  if (!bytes) return std::unexpected(bytes.error());
  ASSIGN_OR_RETURN(const agent::Redactor redactor, VaultRedactor(roots));
  return TaskOutputOf(redactor.Clean(*std::move(bytes)), row.state == "running");
}

Error WhyNotStopped(const std::string& session_dir, const std::string& task_id) {
  const Result<protocol::TaskRows> rows = TasksIn(session_dir);
  if (!rows) return rows.error();
  const Result<protocol::TaskRow> row = agent::FindTask(*rows, task_id);
  if (!row) return row.error();
  if (row->state != "running")
    return {Code::kConflict, fmt::format("{} does not run any more: {}", task_id, row->state)};
  return {Code::kBusy, fmt::format("{} runs in another process ({}): stop it there", task_id,
                                   row->held_by.value_or(0))};
}

}  // namespace stet::host
