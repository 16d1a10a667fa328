// Sessions: everything a face can ask about stored sessions. An interface, so that faces know no
// host: main.cc hands them an implementation that works in this process.
//
// A session is named by its id; Resolve turns what a user typed (a unique beginning of an id) into
// one. Whatever changes a session takes its lock and fails with kBusy, naming the holder, when
// another process writes it. Every call returns at once and is answered once, in the order of the
// calls; what is not answered when the client is destroyed is kCancelled. Calls are made from one
// thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/reply.h"
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

struct ExportWanted {
  std::string session_id;
  ExportFormat format = ExportFormat::kTar;
  std::string path;  // It must not exist. Empty: written to `fd`.
  int fd = -1;
  bool reveal = false;
};

struct Imported {
  std::string session_id;
  std::vector<protocol::FaultReport>
      faults;  // What is wrong with what was imported; it was imported all the same.
  std::uint64_t left_out = 0;  // Members of the tar that are none of a session's, or damaged blobs.
  std::vector<std::string> left_out_names;  // The first of them.
};

using Moved = protocol::Moved;

class Sessions {
 public:
  virtual ~Sessions() = default;

  /// The roots, newest first; with `all` the children of each behind it.
  virtual void List(bool all, Reply<std::vector<protocol::SessionSummary>> reply) = 0;
  /// The one session whose id is or begins with `typed`. kNotFound, or kConflict naming the
  /// candidates.
  virtual void Resolve(const std::string& typed, Reply<std::string> reply) = 0;
  virtual void Describe(const std::string& session_id, Reply<protocol::SessionSummary> reply) = 0;

  /// The events on the path to `at` (the leaf when absent), in the order a reader expects, until
  /// `sink` answers false: as they are, and as people read them. `sink` is called on a thread of
  /// the client's until the reply, never afterwards, and must not wait for this client.
  virtual void Events(const std::string& session_id, const std::optional<std::string>& at,
                      const std::function<bool(const protocol::Event&)>& sink,
                      Reply<void> reply) = 0;
  /// Every event that applies there, in the order of the file: those on the path, the control
  /// events along it, and those that are about the session (openings, permissions, model calls,
  /// tasks, ...), whenever they came.
  virtual void RawEvents(const std::string& session_id, const std::optional<std::string>& at,
                         const std::function<bool(const protocol::Event&)>& sink,
                         Reply<void> reply) = 0;
  virtual void Transcript(const std::string& session_id, const std::optional<std::string>& at,
                          const std::function<bool(const protocol::DisplayRow&)>& sink,
                          Reply<void> reply) = 0;
  /// What the session keeps under that name: an image, a file as it was before a change. kNotFound
  /// when nothing is.
  virtual void Blob(const std::string& session_id, const std::string& name,
                    Reply<std::string> reply) = 0;
  virtual void Tree(const std::string& session_id, Reply<protocol::SessionTree> reply) = 0;

  /// What its model calls came to; those of child agents stand in their own sessions.
  virtual void Cost(const std::string& session_id, Reply<protocol::CostReport> reply) = 0;

  /// Makes the session's requests again from its log, and compares them with what was sent.
  virtual void Replay(const std::string& session_id, Reply<protocol::ReplayReport> reply) = 0;
  /// What would be sent next. A count asks the model's server: kUnsupported where it has none.
  virtual void Context(const std::string& session_id, const protocol::ContextWanted& wanted,
                       Reply<protocol::ContextReport> reply) = 0;

  /// Where its run stands, and that as a capsule.
  virtual void Run(const std::string& session_id, Reply<protocol::RunReport> reply) = 0;
  virtual void Capsule(const std::string& session_id, Reply<protocol::CapsuleReport> reply) = 0;

  /// What runs in its background, and what has run there, in the order of their start. A task of
  /// another process names that process.
  virtual void Tasks(const std::string& session_id, Reply<protocol::TaskRows> reply) = 0;
  /// By the host that runs it. kBusy names another process that does; kConflict when it has ended.
  virtual void StopTask(const std::string& session_id, const std::string& task_id,
                        Reply<void> reply) = 0;
  /// The end of it, or the part that `range` names; at most 1 MB at once.
  virtual void TaskOutput(const std::string& session_id, const std::string& task_id,
                          const protocol::TaskRange& range, Reply<protocol::TaskOutput> reply) = 0;

  /// `target` absent: to before the first event. `expected_leaf` absent: whatever the leaf is now.
  virtual void Rewind(const std::string& session_id, const std::optional<std::string>& target,
                      const std::optional<std::string>& expected_leaf, Reply<Moved> reply) = 0;
  virtual void Branch(const std::string& session_id, const std::string& leaf,
                      const std::optional<std::string>& expected_leaf, Reply<Moved> reply) = 0;
  /// The new session's id.
  virtual void Clone(const std::string& session_id, const std::optional<std::string>& at,
                     Reply<std::string> reply) = 0;

  /// A root with its children; a child alone.
  virtual void Verify(const std::string& session_id, Reply<protocol::VerifyReport> reply) = 0;
  virtual void Repair(const std::string& session_id, Reply<void> reply) = 0;

  /// Secrets of known kinds are masked in it, unless `reveal`.
  virtual void Export(const ExportWanted& wanted, Reply<void> reply) = 0;
  /// A tar or a JSONL, told apart by content. Keeps its id when that is free; kConflict when not,
  /// unless `new_id`.
  virtual void Import(const std::string& path, bool new_id, Reply<Imported> reply) = 0;

  /// Moves the session to the trash, a root with its children, from which Restore brings it back.
  virtual void Remove(const std::string& session_id, Reply<void> reply) = 0;
  virtual void Trash(Reply<std::vector<protocol::TrashRow>> reply) = 0;
  /// Takes a unique beginning of a removed session's id; gives the whole id.
  virtual void Restore(const std::string& typed, Reply<std::string> reply) = 0;

  virtual void DiskUse(Reply<protocol::DiskUseReport> reply) = 0;
  /// What could be deleted for good: nothing is, until Collect is called with it.
  virtual void FindGarbage(bool with_trash, Reply<std::vector<protocol::GarbageItem>> reply) = 0;
  /// Bytes freed. Items that have become used meanwhile are left.
  virtual void Collect(const std::vector<protocol::GarbageItem>& items,
                       Reply<std::uint64_t> reply) = 0;
};

}  // namespace stet::client
