// Shells: the tasks of a session that are commands under bash: what Bash leaves in the background,
// and BashTask reads, feeds and stops.
//
// While a command runs, its output is in a file of the session's folder, of the name that the task
// has (shell_output.h says how much of it). Belongs to the loop's thread; the tasks outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tool/project/scan.h"
#include "tool/shell/shell.h"
#include "tool/tasks.h"

namespace stet::tool {

/// What is known from before a command started.
struct ShellStart {
  std::shared_ptr<const ProjectScan> before;  // The project then, or when it was last looked at.
  /// Files that git would obey and that no box keeps it from making: renamed when it has ended.
  std::vector<std::string> not_yet;
};

class ShellTask final : public BackgroundTask {
 public:
  /// `output_path`: the file that its output is in; empty: one that goes with the shell.
  ShellTask(TaskFacts facts, std::unique_ptr<Shell> shell, std::string output_path,
            ShellStart start);

  [[nodiscard]] const TaskFacts& facts() const override { return facts_; }
  [[nodiscard]] std::optional<TaskEnd> end() const override;
  void OnEnd(std::function<void()> listener) override { shell_->OnEnd(std::move(listener)); }
  void Stop(std::string_view by) override;
  void Kill() override { shell_->Kill(); }
  void KillAndWait() override { shell_->KillAndWait(); }
  [[nodiscard]] std::string Output() const override { return shell_->output().Whole(); }
  [[nodiscard]] std::string Tail(std::size_t max_bytes) const override {
    return shell_->output().Tail(max_bytes);
  }
  [[nodiscard]] std::string output_path() const override { return output_path_; }

  [[nodiscard]] Shell& shell() { return *shell_; }

  std::uint64_t read_to = 0;  // Of its output: what the model was shown.
  /// Null when what the command did to the project is settled.
  std::shared_ptr<const ProjectScan> before;

  /// Those of ShellStart::not_yet that it made.
  [[nodiscard]] const std::vector<std::string>& set_aside() const { return *set_aside_; }

 private:
  TaskFacts facts_;
  std::unique_ptr<Shell> shell_;
  std::string output_path_;
  std::string stopped_by_;
  /// The shell's listener has it too: a shell may outlive its task.
  std::shared_ptr<std::vector<std::string>> set_aside_ =
      std::make_shared<std::vector<std::string>>();
};

class Shells {
 public:
  /// `folder` is where the output of commands goes while they run, made with the first; empty: it
  /// stays where it is for commands in the foreground.
  explicit Shells(Tasks& tasks, std::string folder = "");

  /// The id of the next task. kBusy, with what to do, when no more may run.
  Result<std::string> NewTaskId() { return tasks_.NewId("shell"); }
  /// Where the output of this task goes; empty: nowhere else than before.
  [[nodiscard]] Result<std::string> OutputPath(const std::string& task_id) const;

  /// Keeps a task that has such an id.
  void Keep(const std::shared_ptr<ShellTask>& task);
  /// What is known of a task that is kept here no longer, or that an earlier process ran: how it
  /// ended. Nothing when the session had no such task.
  using Past = std::function<std::optional<std::string>(const std::string& task_id)>;
  void KnowPast(Past past) { past_ = std::move(past); }
  [[nodiscard]] std::optional<std::string> PastOf(const std::string& task_id) const {
    return past_ ? past_(task_id) : std::nullopt;
  }

  /// kNotFound, with the ids that there are.
  [[nodiscard]] Result<std::shared_ptr<ShellTask>> Find(const std::string& task_id) const;

 private:
  Tasks& tasks_;
  std::string folder_;
  std::deque<std::weak_ptr<ShellTask>> shells_;
  Past past_;
};

}  // namespace stet::tool
