#include "lane/tasks.h"

#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/outbox.h"
#include "agent/task_rows.h"
#include "agent/workbench.h"
#include "base/beneath.h"
#include "base/fs.h"
#include "lane/task_view.h"
#include "tool/bounded_output.h"

namespace stet::lane {
namespace {

/// What the model is told of a task's output with its end; all of it is in a blob.
constexpr std::size_t kMaxTailBytes = 2000;

/// Keeps the output, without the vault's values, and names it in the end. What cannot be kept for
/// want of room is not named: the end itself matters more.
bool KeepOutput(log::Log& log, const agent::Redactor& redactor, std::string output,
                std::string tail, protocol::Task& end) {
  if (output.empty()) return true;
  const Result<std::string> whole = log.blobs().Put(redactor.Clean(std::move(output)));
  if (whole) end.output = *whole;
  const Result<std::string> last = log.blobs().Put(redactor.Clean(std::move(tail)));
  if (last) end.tail = *last;
  return whole.has_value();
}

/// How a task ended, as its log has it; nothing when it has none that has ended. Worded apart from
/// the notice of its end, which is told once.
std::optional<std::string> PastOf(log::Log& log, const std::string& task_id) {
  const Result<protocol::TaskRows> rows = agent::ReadTasks(log);
  if (!rows) return std::nullopt;
  const Result<protocol::TaskRow> row = agent::FindTask(*rows, task_id);
  if (!row || !row->ended_at) return std::nullopt;
  protocol::Task end;
  end.task_id = row->task_id;
  end.kind = row->kind;
  end.phase = row->state == "lost" ? protocol::phase::kLost : protocol::phase::kEnd;
  end.status = row->state;
  end.exit = row->exit;
  end.signal = row->signal;
  end.tail = row->tail;
  return "Task " + agent::TaskEnding(end, log.blobs());
}

}  // namespace

LaneTasks::LaneTasks(agent::Workbench& bench, LaneTurns& turns, const protocol::TaskRows& earlier)
    : bench_(bench),
      turns_(turns),
      tasks_(
          [this](const std::shared_ptr<tool::BackgroundTask>& task) {
            unrecorded_.push_back(task);
            RecordEnds();
          },
          agent::NextTaskNumber(bench.log, earlier)),
      shells_(tasks_, bench.log.paths().tasks()) {
  shells_.KnowPast([this](const std::string& task_id) { return PastOf(bench_.log, task_id); });
}

void LaneTasks::StopAll() {
  tasks_.StopAll();
  RecordEnds();
}

/// Appends the ends of tasks in order; those that the log had no room for are tried again.
void LaneTasks::RecordEnds() {
  while (!unrecorded_.empty()) {
    // Ignoring the error on purpose: the next append of a turn meets it as well.
    if (!RecordEnd(*unrecorded_.front())) return;
    unrecorded_.pop_front();
  }
}

/// While a turn works only the end is appended, and its next step tells the model. Else the end and
/// its item are one batch, and a turn begins with it.
Status LaneTasks::RecordEnd(const tool::BackgroundTask& task) {
  const tool::TaskFacts& facts = task.facts();
  const tool::TaskEnd how = task.end().value_or(tool::TaskEnd());
  protocol::Task end;
  end.task_id = facts.id;
  end.kind = facts.kind;
  end.phase = protocol::phase::kEnd;
  if (!how.by.empty()) end.by = how.by;
  if (!facts.tool_call_id.empty()) end.tool_call_id = facts.tool_call_id;
  end.status = how.status;
  end.exit = how.exit;
  end.signal = how.signal;
  const bool kept =
      KeepOutput(bench_.log, bench_.redactor, task.Output(), task.Tail(kMaxTailBytes), end);
  bench_.checkpoints->TaskEnded(facts.tool_call_id);
  RETURN_IF_ERROR(bench_.outbox.Update(bench_.log));
  const bool tells = !turns_.working();
  const auto append = [&](const protocol::Stamp& stamp) {
    return agent::AppendTaskEnd(bench_, end, tells, stamp);
  };
  const bool begins = turns_.MayBegin() && bench_.outbox.Concerns(facts.id);
  RETURN_IF_ERROR(begins ? turns_.Begin(append) : append(protocol::Stamp()));
  if (kept && !task.output_path().empty()) (void)Remove(task.output_path());  // It is in the blob.
  agent::NotifyHooks(bench_, {},
                     hook::OnTaskCompleted(facts.id, agent::TaskNotice(end, bench_.log.blobs())));
  return {};
}

/// Records tasks of an earlier process, which died with it, as lost.
Status LaneTasks::NoteLost(const protocol::TaskRows& earlier, bool tells) {
  for (const protocol::TaskRow& row : earlier) {
    if (row.state != "running") continue;
    bench_.checkpoints->TaskBegan(row.tool_call_id.value_or(""));
    bench_.checkpoints->TaskEnded(row.tool_call_id.value_or(""));
    const std::string path = bench_.log.paths().tasks() + "/" + row.task_id;
    protocol::Task end;
    end.task_id = row.task_id;
    end.kind = row.kind;
    end.phase = protocol::phase::kLost;
    end.tool_call_id = row.tool_call_id;
    // An id that another device wrote may be any text: no file elsewhere is read, or removed.
    const Result<Beneath> file = OpenWithin(bench_.log.paths().tasks(), path);
    const auto output = file ? file->Read() : std::unexpected(file.error());
    bool kept = false;
    if (output)
      kept = KeepOutput(bench_.log, bench_.redactor, output->bytes,
                        tool::TailText(output->bytes, kMaxTailBytes), end);
    RETURN_IF_ERROR(agent::AppendTaskEnd(bench_, end, tells, {}));
    if (kept) (void)file->Remove();  // It is in the blob.
  }
  return {};
}

Result<protocol::TaskRows> LaneTasks::Rows() const { return agent::ReadTasks(bench_.log); }

Status LaneTasks::Stop(const std::string& task_id) {
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, Rows());
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, task_id));
  const auto found = tasks_.Find(task_id);
  if (!found || (*found)->end())
    return Fail(Code::kConflict, fmt::format("{} does not run any more: {}", task_id, row.state));
  (*found)->Stop("person");
  return {};
}

Result<protocol::TaskOutput> LaneTasks::Output(const std::string& task_id,
                                               const protocol::TaskRange& range) const {
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, Rows());
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, task_id));
  if (const auto found = tasks_.Find(task_id); found && !row.ended_at)
    return TaskOutputOf(bench_.redactor.Clean((*found)->Output()), true, range);
  ASSIGN_OR_RETURN(const std::string bytes, KeptOutput(bench_.log.blobs(), row));
  return TaskOutputOf(bytes, false, range);
}

}  // namespace stet::lane
