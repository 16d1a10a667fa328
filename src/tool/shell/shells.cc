#include "tool/shell/shells.h"

#include "base/fs.h"
#include "tool/git/obeyed.h"

namespace stet::tool {
namespace {

std::string StatusOf(const ShellHow& how) {
  switch (how.why) {
    case ShellHow::Why::kExited: return how.exit_code == 0 ? "completed" : "failed";
    case ShellHow::Why::kSignal: return "failed";
    case ShellHow::Why::kTimeout: return "timed_out";
    case ShellHow::Why::kStopped: return "killed";
  }
  return "failed";
}

}  // namespace

ShellTask::ShellTask(TaskFacts facts, std::unique_ptr<Shell> shell, std::string output_path,
                     ShellStart start)
    : read_to(shell->output().total()),
      before(std::move(start.before)),
      facts_(std::move(facts)),
      shell_(std::move(shell)),
      output_path_(std::move(output_path)) {
  if (start.not_yet.empty()) return;
  shell_->OnEnd([files = std::move(start.not_yet), done = set_aside_] { *done = SetAside(files); });
}

std::optional<TaskEnd> ShellTask::end() const {
  const std::optional<ShellHow>& how = shell_->how();
  if (!how) return std::nullopt;
  TaskEnd end{.status = StatusOf(*how), .exit = {}, .signal = {}, .by = ""};
  if (how->exit_code >= 0) end.exit = how->exit_code;
  if (how->signal != 0) end.signal = how->signal;
  if (how->why == ShellHow::Why::kStopped) end.by = stopped_by_;
  return end;
}

void ShellTask::Stop(std::string_view by) {
  if (stopped_by_.empty()) stopped_by_ = by;
  shell_->Stop();
}

Shells::Shells(Tasks& tasks, std::string folder) : tasks_(tasks), folder_(std::move(folder)) {}

Result<std::string> Shells::OutputPath(const std::string& task_id) const {
  if (folder_.empty()) return std::string();
  RETURN_IF_ERROR(MakeDirs(folder_));
  return folder_ + "/" + task_id;
}

void Shells::Keep(const std::shared_ptr<ShellTask>& task) {
  std::erase_if(shells_, [](const auto& one) { return one.expired(); });
  shells_.push_back(task);
  tasks_.Keep(task);
}

Result<std::shared_ptr<ShellTask>> Shells::Find(const std::string& task_id) const {
  for (const auto& one : shells_) {
    if (auto task = one.lock(); task && task->facts().id == task_id) return task;
  }
  const auto other = tasks_.Find(task_id);
  if (!other) return std::unexpected(other.error());
  return Fail(Code::kNotFound, "Task " + task_id + " is no command.");
}

}  // namespace stet::tool
