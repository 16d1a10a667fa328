#include "lane/task_view.h"

#include <fmt/format.h>

#include "agent/task_rows.h"
#include "base/beneath.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/utf8.h"
#include "device/secret_values.h"
#include "log/paths.h"
#include "store/session_store.h"

namespace stet::lane {

namespace {

/// Its process is gone. It ran at least until its output, or the log, was last written.
void TellLost(const std::string& session_dir, const log::Log& log, protocol::TaskRow& row) {
  row.state = "lost";
  row.ended_at = std::max(row.started_at, log.index().state().updated_at);
  if (const auto file = StatFile(log::Paths{session_dir}.tasks() + "/" + row.task_id))
    row.ended_at = std::max(*row.ended_at, file->mtime_ms);
}

}  // namespace

Result<protocol::TaskRows> TasksIn(const std::string& session_dir) {
  // Read before the log: else the holder could write a task's end and leave in between, and the
  // task would be called lost.
  const std::optional<LockHolder> holder = FileLock::Holder(log::Paths{session_dir}.lock());
  protocol::TaskRows rows;
  RETURN_IF_ERROR(log::ReadLog(session_dir, [&](log::Log& log) -> Status {
    ASSIGN_OR_RETURN(rows, agent::ReadTasks(log));
    for (protocol::TaskRow& row : rows) {
      if (row.state != "running") continue;
      if (holder)
        row.held_by = holder->pid;
      else
        TellLost(session_dir, log, row);
    }
    return {};
  }));
  return rows;
}

protocol::TaskOutput TaskOutputOf(std::string_view bytes, bool running,
                                  const protocol::TaskRange& range) {
  const auto capped = [](const protocol::OptionalInt& number, std::size_t most) {
    return number ? std::min(static_cast<std::size_t>(std::max<std::int64_t>(*number, 0)), most)
                  : most;
  };
  const std::size_t limit = capped(range.limit, kMaxTaskOutput);
  const std::size_t begin = range.offset ? capped(range.offset, bytes.size())
                                         : bytes.size() - std::min(bytes.size(), limit);
  const std::string_view rest = bytes.substr(begin);
  // The next part begins with the character that would be cut; a limit that is smaller than one
  // cuts it.
  const std::size_t whole = Utf8PrefixLength(rest, limit);
  const std::string_view part = rest.substr(0, whole > 0 ? whole : limit);
  protocol::TaskOutput output;
  output.running = running;
  output.left_out = static_cast<std::int64_t>(begin);
  output.end = static_cast<std::int64_t>(begin + part.size());
  output.bytes = static_cast<std::int64_t>(bytes.size());
  output.text = ReplaceInvalidUtf8(part);
  return output;
}

Result<std::string> KeptOutput(const log::Blobs& blobs, const protocol::TaskRow& row) {
  const protocol::OptionalText& name = row.output ? row.output : row.tail;
  return name ? blobs.Get(*name) : std::string();
}

Result<protocol::TaskOutput> TaskOutputIn(const config::Roots& roots,
                                          const protocol::TaskOutputParams& params) {
  protocol::TaskRange range;
  range.offset = params.offset;
  range.limit = params.limit;
  ASSIGN_OR_RETURN(const std::string session_dir,
                   store::SessionStore(roots).Find(params.session_id));
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, TasksIn(session_dir));
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, params.task_id));
  const log::Paths paths{session_dir};
  if (row.output || row.tail) {
    ASSIGN_OR_RETURN(const std::string bytes, KeptOutput(log::Blobs(paths.blobs()), row));
    return TaskOutputOf(bytes, false, range);
  }
  Result<std::string> bytes =
      ReadWithin(paths.tasks(), paths.tasks() + "/" + row.task_id, kMaxReadFile);
  if (!bytes && bytes.error().code == Code::kNotFound) bytes = std::string();
  if (!bytes) return std::unexpected(bytes.error());
  ASSIGN_OR_RETURN(const agent::Redactor redactor, device::RedactorOf(roots));
  return TaskOutputOf(redactor.Clean(*std::move(bytes)), row.state == "running", range);
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

}  // namespace stet::lane
