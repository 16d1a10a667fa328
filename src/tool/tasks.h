// Tasks: what runs in the background of a session, whatever its kind, and what has ended lately.
// Faces, the wire, hooks and the lane know a task by BackgroundTask alone.
//
// Owned by the session's lane; belongs to the loop's thread, and dies before the loop. Bounded: at
// most kMaxRunning run, and of the ended ones the last kMaxEnded are kept. Its destructor kills
// what runs, waits for its end, and makes no callback.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::tool {

/// What is known of a task from its start.
struct TaskFacts {
  std::string id;
  std::string kind;          // shell
  std::string name;          // For people and for the model: a shell's command.
  std::string tool_call_id;  // Of the call that started it; empty: none did.
};

/// How a task ended.
struct TaskEnd {
  std::string status;  // completed, failed, killed or timed_out, as the log spells it.
  std::optional<int> exit;
  std::optional<int> signal;
  std::string by;  // Who had it stopped: model or person. Empty: it ended by itself, or with us.
};

class BackgroundTask {
 public:
  virtual ~BackgroundTask() = default;

  [[nodiscard]] virtual const TaskFacts& facts() const = 0;
  /// Nothing while it runs.
  [[nodiscard]] virtual std::optional<TaskEnd> end() const = 0;
  /// Called once when it has ended; at once when it has ended already. Must not destroy the task.
  virtual void OnEnd(std::function<void()> listener) = 0;

  /// Asks it to end, and makes it end soon. `by` is model or person.
  virtual void Stop(std::string_view by) = 0;
  /// Makes it end now, without waiting for that.
  virtual void Kill() = 0;
  /// Makes it end now, and waits for it.
  virtual void KillAndWait() = 0;

  /// What was kept of its output: within the task's own bounds, with a line in the place of what
  /// was dropped.
  [[nodiscard]] virtual std::string Output() const = 0;
  /// The last `max_bytes` of its output, as text, from the beginning of a line where there is one.
  [[nodiscard]] virtual std::string Tail(std::size_t max_bytes) const = 0;
  /// The file that its output is in while it runs; empty: none.
  [[nodiscard]] virtual std::string output_path() const = 0;
};

class Tasks {
 public:
  static constexpr std::size_t kMaxRunning = 32;
  static constexpr std::size_t kMaxEnded = 32;
  /// The most that is kept of a name, which is only there to be recognised.
  static constexpr std::size_t kMaxNameBytes = 200;

  using Ended = std::function<void(const std::shared_ptr<BackgroundTask>&)>;

  /// `ended` is called on the loop's thread when a task has ended. The first task has the number
  /// `first_number`: one that no task of the session has.
  explicit Tasks(Ended ended = {}, std::int64_t first_number = 1);
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  ~Tasks();

  [[nodiscard]] std::size_t running() const;
  /// Which tasks run, for the model; empty when none does.
  [[nodiscard]] std::string Describe() const;

  /// The id of the next task of this kind: "shell-1". kBusy, with what to do, when no more may run.
  Result<std::string> NewId(std::string_view kind);

  /// Keeps a task that has such an id, and tells of its end.
  void Keep(const std::shared_ptr<BackgroundTask>& task);

  /// kNotFound, with the ids that there are.
  [[nodiscard]] Result<std::shared_ptr<BackgroundTask>> Find(std::string_view task_id) const;

  /// Kills all, waits for their end, and tells of each.
  void StopAll();

 private:
  void ForgetOldest();

  std::shared_ptr<Ended> ended_;  // Null when ends are not told any more.
  std::int64_t next_number_;
  std::deque<std::shared_ptr<BackgroundTask>> tasks_;  // In the order of their start.
};

/// A name on one line, cut to Tasks::kMaxNameBytes.
std::string TaskName(std::string_view text);

}  // namespace stet::tool
