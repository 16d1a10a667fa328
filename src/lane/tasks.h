// LaneTasks: what runs in the background of a session. Their ends are put on record and told to the
// model, and clients look at them and have them stopped.
//
// Owned by the lane.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/result.h"
#include "lane/lane_turns.h"
#include "protocol/tasks.h"
#include "tool/shell/shells.h"
#include "tool/tasks.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

class LaneTasks {
 public:
  /// Both outlive it; `earlier` are the tasks that the log has.
  LaneTasks(agent::Workbench& bench, LaneTurns& turns, const protocol::TaskRows& earlier);

  [[nodiscard]] tool::Shells& shells() { return shells_; }
  [[nodiscard]] std::size_t running() const { return tasks_.running(); }
  /// Which run, for the model; empty when none does.
  [[nodiscard]] std::string Describe() const { return tasks_.Describe(); }

  /// Records those of an earlier process, which died with it, as lost; `tells` the model at once,
  /// where a message may stand.
  Status NoteLost(const protocol::TaskRows& earlier, bool tells);
  /// Appends the ends that the log had no room for when they came.
  void RecordEnds();
  /// Kills all, and puts their ends on record.
  void StopAll();

  /// All that there are and were, in the order of their start.
  [[nodiscard]] Result<protocol::TaskRows> Rows() const;
  /// A person has it stopped; its end follows soon. kNotFound, kConflict when it has ended.
  Status Stop(const std::string& task_id);
  [[nodiscard]] Result<protocol::TaskOutput> Output(const std::string& task_id,
                                                    const protocol::TaskRange& range) const;

 private:
  Status RecordEnd(const tool::BackgroundTask& task);

  agent::Workbench& bench_;
  LaneTurns& turns_;
  /// Have ended, and the log could not be told yet.
  std::deque<std::shared_ptr<tool::BackgroundTask>> unrecorded_;
  tool::Tasks tasks_;
  tool::Shells shells_;
};

}  // namespace stet::lane
