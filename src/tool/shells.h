// Shells: the commands of a session that run in the background, and those that have ended and may
// still be read.
//
// Owned by the session's lane; belongs to the loop's thread, and dies before the loop. Bounded: at
// most kMaxRunning run, and of the ended ones the last kMaxEnded are kept. Its destructor kills
// what runs, waits for its end, and tells nobody.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "tool/project_scan.h"
#include "tool/shell.h"

namespace stet::tool {

/// What is told of the end of a command in the background.
struct ShellEnd {
  std::string task_id;
  std::string tool_call_id;  // Of the call that started it.
  ShellHow how;
  std::string tail;  // The end of its output, at most kMaxTailBytes; all of it is read by BashTask.

  static constexpr std::size_t kMaxTailBytes = 2000;
};

struct ShellTask {
  std::string id;
  std::string tool_call_id;
  std::unique_ptr<Shell> shell;
  std::uint64_t read_to = 0;  // Of its output: what was shown.
  /// The project before it started, or was last looked at. Null when that is settled.
  std::shared_ptr<const ProjectScan> before;
};

class Shells {
 public:
  static constexpr std::size_t kMaxRunning = 32;
  static constexpr std::size_t kMaxEnded = 32;

  using Ended = std::function<void(const ShellEnd&)>;

  /// `ended` is called on the loop's thread, when a task has ended. The first task is shell-N with
  /// N = `first_number`: the session's tasks so far, and one.
  explicit Shells(Ended ended, std::int64_t first_number = 1);
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;
  ~Shells();

  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] const std::deque<std::shared_ptr<ShellTask>>& tasks() const { return tasks_; }
  /// Which tasks run, for the model; empty when none does.
  [[nodiscard]] std::string Describe() const;

  /// The id of the next task. kBusy, with what to do, when no more may run.
  Result<std::string> NewTaskId();

  /// Keeps a task that has such an id, and tells of its end.
  void Keep(const std::shared_ptr<ShellTask>& task);

  /// kNotFound, with the ids that there are.
  [[nodiscard]] Result<std::shared_ptr<ShellTask>> Find(const std::string& task_id) const;

  /// Kills all, waits for their end, and tells of each.
  void StopAll();

 private:
  void KillAll();
  void ForgetOldest();

  std::shared_ptr<Ended> ended_;  // Null when nobody is told any more.
  std::int64_t next_number_;
  std::deque<std::shared_ptr<ShellTask>> tasks_;  // In the order of their start.
};

}  // namespace stet::tool
