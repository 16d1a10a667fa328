// What a lane has to do with tasks: their ends are put on record and told to the model, and clients
// look at them and have them stopped.
#include <fmt/format.h>

#include "agent/hooks.h"
#include "agent/outbox.h"
#include "agent/task_rows.h"
#include "base/fs.h"
#include "host/lane.h"
#include "host/task_view.h"
#include "tool/bounded_output.h"

namespace stet::host {
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

/// How a task ended, as its log has it; nothing when it has none that has ended.
std::optional<std::string> PastOf(log::Log& log, const std::string& task_id) {
  const Result<protocol::TaskRows> rows = agent::ReadTasks(log);
  if (!rows) return std::nullopt;
  const Result<protocol::TaskRow> row = agent::FindTask(*rows, task_id);
  if (!row || !row->ended_at) return std::nullopt;
  protocol::Task end;
  end.task_id = row->task_id;
  end.kind = row->kind;
  end.phase = row->state == "lost" ? "lost" : "end";
  end.status = row->state;
  end.exit = row->exit;
  end.signal = row->signal;
  end.tail = row->tail;
  return agent::TaskNotice(end, log.blobs());
}

}  // namespace

void Lane::OpenTasks(const protocol::TaskRows& tasks) {
  tasks_ = std::make_unique<tool::Tasks>(
      [this](const std::shared_ptr<tool::BackgroundTask>& task) {
        unrecorded_.push_back(task);
        RecordEnds();
      },
      agent::NextTaskNumber(*setup_.log, tasks));
  shells_ = std::make_unique<tool::Shells>(*tasks_, setup_.log->paths().tasks());
  shells_->KnowPast([this](const std::string& task_id) { return PastOf(*setup_.log, task_id); });
}

/// Appends the ends of tasks in order; those that the log had no room for are tried again.
void Lane::RecordEnds() {
  while (!unrecorded_.empty()) {
    // Ignoring the error on purpose: the next append of a turn meets it as well.
    if (!RecordEnd(*unrecorded_.front())) return;
    unrecorded_.pop_front();
  }
}

/// While a turn works only the end is appended, and its next step tells the model. Else the end and
/// its item are one batch, and a turn begins with it.
Status Lane::RecordEnd(const tool::BackgroundTask& task) {
  const tool::TaskFacts& facts = task.facts();
  const tool::TaskEnd how = task.end().value_or(tool::TaskEnd());
  protocol::Task end;
  end.task_id = facts.id;
  end.kind = facts.kind;
  end.phase = "end";
  if (!how.by.empty()) end.by = how.by;
  if (!facts.tool_call_id.empty()) end.tool_call_id = facts.tool_call_id;
  end.status = how.status;
  end.exit = how.exit;
  end.signal = how.signal;
  const bool kept =
      KeepOutput(*setup_.log, bench_.redactor, task.Output(), task.Tail(kMaxTailBytes), end);
  RETURN_IF_ERROR(bench_.outbox.Update(*setup_.log));
  const bool tells = !working();
  const bool starts = tells && !closing_ && setup_.task_end_starts_turn &&
                      opening_.last_end == agent::ended::kCompleted &&
                      bench_.outbox.Concerns(facts.id);
  if (starts) NewTurn();
  const protocol::Stamp stamp = starts ? turn_->stamp() : protocol::Stamp();
  if (const Status appended = agent::AppendTaskEnd(bench_, end, tells, stamp); !appended) {
    if (starts) turn_.reset();
    return appended;
  }
  if (kept && !task.output_path().empty()) (void)Remove(task.output_path());  // It is in the blob.
  agent::NotifyHooks(bench_, {},
                     hook::OnTaskCompleted(facts.id, agent::TaskNotice(end, setup_.log->blobs())));
  if (starts) setup_.loop.Spawn(Work("", false));
  return {};
}

/// Begins a turn with the ends of tasks that are owed, if the turn before completed. True: it
/// began, and the caller runs it.
Result<bool> Lane::BeginWithOwed() {
  if (closing_ || broken_ || !setup_.task_end_starts_turn ||
      opening_.last_end != agent::ended::kCompleted)
    return false;
  RETURN_IF_ERROR(bench_.outbox.Update(*setup_.log));
  if (!bench_.outbox.owes_end()) return false;
  NewTurn();
  if (const Status paid = agent::PayOwed(bench_, turn_->stamp()); !paid) {
    turn_.reset();
    return std::unexpected(paid.error());
  }
  return true;
}

/// Records tasks of an earlier process, which died with it, as lost.
Status Lane::NoteLostTasks(const protocol::TaskRows& tasks) {
  for (const protocol::TaskRow& row : tasks) {
    if (row.state != "running") continue;
    const std::string path = setup_.log->paths().tasks() + "/" + row.task_id;
    protocol::Task end;
    end.task_id = row.task_id;
    end.kind = row.kind;
    end.phase = "lost";
    end.tool_call_id = row.tool_call_id;
    const Result<std::string> output = ReadFile(path);
    bool kept = false;
    if (output)
      kept = KeepOutput(*setup_.log, bench_.redactor, *output,
                        tool::TailText(*output, kMaxTailBytes), end);
    RETURN_IF_ERROR(agent::AppendTaskEnd(bench_, std::move(end), !waits_, {}));
    if (kept) (void)Remove(path);  // It is in the blob.
  }
  return {};
}

Result<protocol::TaskRows> Lane::Tasks() const { return agent::ReadTasks(*setup_.log); }

Status Lane::StopTask(const std::string& task_id) {
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, Tasks());
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, task_id));
  const auto found = tasks_->Find(task_id);
  if (!found || (*found)->end())
    return Fail(Code::kConflict, fmt::format("{} does not run any more: {}", task_id, row.state));
  (*found)->Stop("person");
  return {};
}

Result<protocol::TaskOutput> Lane::TaskOutput(const std::string& task_id,
                                              const protocol::TaskRange& range) const {
  ASSIGN_OR_RETURN(const protocol::TaskRows rows, Tasks());
  ASSIGN_OR_RETURN(const protocol::TaskRow row, agent::FindTask(rows, task_id));
  if (const auto found = tasks_->Find(task_id); found && !row.ended_at)
    return TaskOutputOf(bench_.redactor.Clean((*found)->Output()), true, range);
  ASSIGN_OR_RETURN(std::string bytes, KeptOutput(setup_.log->blobs(), row));
  return TaskOutputOf(bytes, false, range);
}

}  // namespace stet::host
