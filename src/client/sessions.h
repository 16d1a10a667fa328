// Sessions: everything a face can ask about stored sessions. An interface, so that faces know no
// host: main.cc hands them one that works in this process.
//
// A session is named by its id; Resolve turns what a user typed (a unique beginning of an id) into
// one. Whatever changes a session takes its lock and fails with kBusy, naming the holder, when
// somebody writes it. Blocking; one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/display.h"
#include "protocol/event.h"
#include "protocol/requests.h"
#include "protocol/run_report.h"
#include "protocol/session.h"
#include "protocol/tasks.h"

namespace stet::client {

enum class ExportFormat {
  kTar,    // The whole folder: log, blobs, child sessions.
  kJsonl,  // The log alone.
};

struct Imported {
  std::string session_id;
  std::vector<protocol::FaultReport>
      faults;  // What is wrong with what was imported; it was imported all the same.
};

using Moved = protocol::Moved;

class Sessions {
 public:
  virtual ~Sessions() = default;

  /// The roots, newest first; with `all` the children of each behind it.
  virtual Result<std::vector<protocol::SessionSummary>> List(bool all = false) = 0;
  /// The one session whose id is or begins with `typed`. kNotFound, or kConflict naming the
  /// candidates.
  virtual Result<std::string> Resolve(std::string_view typed) = 0;
  virtual Result<protocol::SessionSummary> Describe(const std::string& session_id) = 0;

  /// The events on the path to `at` (the leaf when absent), in the order a reader expects, until
  /// `sink` answers false: as they are, and as people read them.
  virtual Status Events(const std::string& session_id, const std::optional<std::string>& at,
                        const std::function<bool(const protocol::Event&)>& sink) = 0;
  /// Every event that applies there, in the order of the file: those on the path, the control
  /// events along it, and those that are about the session (openings, permissions, model calls,
  /// tasks, ...), whenever they came.
  virtual Status RawEvents(const std::string& session_id, const std::optional<std::string>& at,
                           const std::function<bool(const protocol::Event&)>& sink) = 0;
  virtual Status Transcript(const std::string& session_id, const std::optional<std::string>& at,
                            const std::function<bool(const protocol::DisplayRow&)>& sink) = 0;
  /// What the session keeps under that name: an image, a file as it was before a change. kNotFound
  /// when nothing is.
  virtual Result<std::string> Blob(const std::string& session_id, const std::string& name) = 0;
  virtual Result<protocol::SessionTree> Tree(const std::string& session_id) = 0;

  /// What its model calls came to; those of child agents stand in their own sessions.
  virtual Result<protocol::CostReport> Cost(const std::string& session_id) = 0;

  /// Makes the session's requests again from its log, and compares them with what was sent.
  virtual Result<protocol::ReplayReport> Replay(const std::string& session_id) = 0;
  /// What would be sent next. A count asks the model's server: kUnsupported where it has none.
  virtual Result<protocol::ContextReport> Context(const std::string& session_id,
                                                  const protocol::ContextWanted& wanted) = 0;

  /// Where its run stands, and that as a capsule.
  virtual Result<protocol::RunReport> Run(const std::string& session_id) = 0;
  virtual Result<protocol::CapsuleReport> Capsule(const std::string& session_id) = 0;

  /// What runs in its background, and what has run there, in the order of their start. A task of
  /// another process names that process.
  virtual Result<protocol::TaskRows> Tasks(const std::string& session_id) = 0;
  /// By the host that runs it. kBusy names another process that does; kConflict when it has ended.
  virtual Status StopTask(const std::string& session_id, const std::string& task_id) = 0;
  /// The end of it, or the part that `range` names; at most 1 MB at once.
  virtual Result<protocol::TaskOutput> TaskOutput(const std::string& session_id,
                                                  const std::string& task_id,
                                                  const protocol::TaskRange& range = {}) = 0;

  /// `target` absent: to before the first event. `expected_leaf` absent: whatever the leaf is now.
  virtual Result<Moved> Rewind(const std::string& session_id,
                               const std::optional<std::string>& target,
                               const std::optional<std::string>& expected_leaf) = 0;
  virtual Result<Moved> Branch(const std::string& session_id, const std::string& leaf,
                               const std::optional<std::string>& expected_leaf) = 0;
  /// The new session's id.
  virtual Result<std::string> Clone(const std::string& session_id,
                                    const std::optional<std::string>& at) = 0;

  /// A root with its children; a child alone.
  virtual Result<protocol::VerifyReport> Verify(const std::string& session_id) = 0;
  virtual Status Repair(const std::string& session_id) = 0;

  /// Writes the export to `path`, which must not exist, or to `fd` when path is empty. Secrets of
  /// known kinds are masked in it, unless `reveal`.
  virtual Status Export(const std::string& session_id, ExportFormat format, const std::string& path,
                        int fd, bool reveal) = 0;
  /// A tar or a JSONL, told apart by content. Keeps its id when that is free; kConflict when not,
  /// unless `new_id`.
  virtual Result<Imported> Import(const std::string& path, bool new_id) = 0;

  /// Moves the session to the trash, a root with its children, from which Restore brings it back.
  virtual Status Remove(const std::string& session_id) = 0;
  virtual Result<std::vector<protocol::TrashRow>> Trash() = 0;
  /// Takes a unique beginning of a removed session's id; gives the whole id.
  virtual Result<std::string> Restore(std::string_view typed) = 0;

  virtual Result<protocol::DiskUseReport> DiskUse() = 0;
  /// What could be deleted for good: nothing is, until Collect is called with it.
  virtual Result<std::vector<protocol::GarbageItem>> FindGarbage(bool with_trash) = 0;
  /// Bytes freed. Items that have become used meanwhile are left.
  virtual Result<std::uint64_t> Collect(const std::vector<protocol::GarbageItem>& items) = 0;
};

}  // namespace stet::client
