// Worker: a thread that does jobs one after the other and, between them, hears a session's news.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "client/inbox.h"

namespace stet::acp {

class Worker {
 public:
  /// `alive` is false when the worker has ended before the job's time came: it then only says so.
  using Job = std::function<void(bool alive)>;

  /// More jobs do not wait.
  static constexpr std::size_t kMaxJobs = 1000;

  /// `hear` is called on the worker's thread.
  explicit Worker(std::function<void(client::News&)> hear);
  /// Ends it, and waits for the job that runs.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// False when it has ended or too many wait: the job will not run.
  bool Post(Job job);
  /// Before all that wait, however many do. False when it has ended.
  bool PostFirst(Job job);
  /// No job behind the one that runs is done any more.
  void End();
  [[nodiscard]] bool ended() const;
  /// Waits until it has ended; somebody else sees to that.
  void Join();

  client::Inbox& inbox() { return inbox_; }

 private:
  void Run();
  std::optional<Job> Next(bool& alive);

  std::function<void(client::News&)> hear_;
  client::Inbox inbox_;
  mutable std::mutex mutex_;
  std::deque<Job> jobs_;
  bool ended_ = false;
  std::thread thread_;  // The last: it uses all of the above.
};

}  // namespace stet::acp
