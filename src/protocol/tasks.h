// What a face asks about the tasks of a session, and what it is told.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/content.h"
#include "protocol/work.h"

namespace stet::protocol {

struct TaskRow {
  STET_FIELDS(TaskRow,
              (Text, task_id),
              (Text, kind),  // shell
              (Text, state),  // running, completed, failed, killed, timed_out or lost
              (Text, name),
              (OptionalText, by),  // Who started it: model, person or workflow.
              (OptionalText, tool_call_id),
              (std::int64_t, started_at),
              (OptionalInt, ended_at),
              (OptionalInt, exit),
              (OptionalInt, signal),
              (OptionalText, tail),  // Blobs: the end of its output, and all that was kept of it.
              (OptionalText, output),
              (OptionalInt, held_by))  // The process that runs it, when that is not the one asked.
};
using TaskRows = std::vector<TaskRow>;

/// The row of a task whose first event is `task`, which came at `at`.
TaskRow BegunTask(const Task& task, std::int64_t at);
/// Takes its end into the row, when that is what the event tells.
void TakeTaskEnd(const Task& task, std::int64_t at, TaskRow& row);

struct TaskList {
  STET_FIELDS(TaskList, (TaskRows, tasks))
};

struct TaskRef {
  STET_FIELDS(TaskRef, (Text, session_id), (Text, task_id))
};

/// Which part of a task's output is meant: without an offset the end of it.
struct TaskRange {
  STET_FIELDS(TaskRange, (OptionalInt, offset), (OptionalInt, limit))  // In bytes; 1 MB at most.
};

struct TaskOutputParams {
  STET_FIELDS(TaskOutputParams,
              (Text, session_id),
              (Text, task_id),
              (OptionalInt, offset),
              (OptionalInt, limit))
};

/// A part of what a task has written.
struct TaskOutput {
  STET_FIELDS(TaskOutput,
              (Text, text),
              (std::int64_t, left_out),  // So many bytes stand before it.
              (std::int64_t, end),  // The offset behind it, where the next part begins.
              (std::int64_t, bytes),  // All that there is by now.
              (bool, running))
};

}  // namespace stet::protocol
