// Checkpoints: what the files of a session's project were before each command that could change
// them, so that any of it can be put back.
//
// The state that was last seen is known, and every look at the project goes from there: a look
// costs what changed. What a look sees is kept (keeping.h) before it can be changed, and a
// checkpoint's manifest is on the disk before its event is. A session that is opened again goes on
// from its last checkpoint. Where nothing may be kept (the home folder itself) it only tells what
// changed.
//
// Belongs to the loop's thread, which gives the work to threads; one look at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/loop.h"
#include "base/result.h"
#include "protocol/work.h"
#include "tool/checkpoint/copies.h"
#include "tool/checkpoint/git_side.h"
#include "tool/checkpoint/keeping.h"
#include "tool/checkpoint/manifest.h"
#include "tool/project/view.h"

namespace stet::tool {

/// What became of one path between two looks.
struct SeenChange {
  std::string path;                     // Relative to the project.
  std::optional<ManifestEntry> before;  // Absent: nothing was there.
  std::optional<ManifestEntry> after;
};

struct Seen {
  std::shared_ptr<const ProjectScan> scan;  // Never null.
  std::vector<SeenChange> changes;          // In the order of a walk.
  /// The call whose doing this may be, when nothing else says whose: of a task that ran since the
  /// last look. Empty: there was none.
  std::string task_call = {};
  bool unsure = false;  // Or that of people and other programs: the task ran beside them.
};

/// What a checkpoint does not have.
struct NotCovered {
  std::vector<std::string> paths;  // Relative to the project, in order.
  bool more = false;               // There are more files than are looked at.
};

class Checkpoints {
 public:
  struct Setup {
    std::string store;    // The device's; empty: nothing may be kept.
    std::string session;  // The session's names in it.
    KeepingLimits limits = {};
    /// The manifest of the session's last checkpoint; nothing when it has none. Asked once, on the
    /// loop, when the first look needs it.
    std::function<Result<std::optional<std::string>>()> last = {};
  };

  explicit Checkpoints(Setup setup);

  [[nodiscard]] bool keeps() const { return !setup_.store.empty(); }

  /// Looks at the project, and keeps what is there. Where nothing is kept and this is the first
  /// look, it tells what changed since `since`; that may be null.
  Async<Result<Seen>> Look(std::shared_ptr<ProjectView> view, Loop& loop, CancelToken cancel,
                           std::shared_ptr<const ProjectScan> since = nullptr);

  struct Taken {
    Seen seen;
    protocol::Checkpoint event;  // To be appended before anything changes.
  };
  /// The same, with a manifest of it. kUnsupported where nothing may be kept.
  Async<Result<Taken>> Take(std::shared_ptr<ProjectView> view, std::string_view reason, Loop& loop,
                            CancelToken cancel);

  /// From here on, a task that this call started may change the project: until it has ended, and
  /// one look later.
  void TaskBegan(const std::string& call_id) {
    if (!call_id.empty()) tasks_.push_back({.call_id = call_id});
  }
  void TaskEnded(const std::string& call_id);
  /// What a command was in the middle of when its process died is its doing alone.
  void Interrupted(const std::string& call_id) {
    if (!call_id.empty()) tasks_.push_back({call_id, true, true});
  }

  /// Of the last look.
  [[nodiscard]] NotCovered not_covered() const;
  [[nodiscard]] const ManifestEntries& entries() const { return entries_; }
  [[nodiscard]] Copies& copies() { return copies_; }

  /// Contents that repositories have, by the ids of their objects: their names as copies, and
  /// copied if `copy`. Those that cannot be had are left out. Blocks: for threads.
  std::map<std::string, std::string> NamesOfGit(const std::string& project,
                                                const std::vector<GitContent>& wanted, bool copy);

  /// The whole manifest of that name.
  static Result<ManifestEntries> Read(const Copies& copies, const std::string& name);

 private:
  struct TaskOf {
    std::string call_id;
    bool ended = false;
    bool alone = false;
  };

  void Settle(const std::vector<TaskOf>& tasks, Seen& seen);
  Status FindLast();
  protocol::Checkpoint EventOf(std::string_view reason) const;
  Result<Seen> LookInThread(ProjectView& view, const CancelToken& cancel);
  Result<Taken> TakeInThread(ProjectView& view, std::string_view reason, const CancelToken& cancel);
  void Open(const std::string& project);
  void HoldAgain(const std::string& project);
  Status Apply(const std::string& project, Seen& seen, const CancelToken& cancel);
  void CopyWhatGitHad(const std::string& project, const std::vector<SeenChange>& changes);
  void DropLost(Seen& seen);
  /// Where the last session that worked in this project left what it knew of it.
  [[nodiscard]] std::string KnownPath(const std::string& project) const;
  std::vector<ToKeep> AdoptKnown(const std::string& project, std::vector<ToKeep> files);
  void AddFresh(const std::string& project, std::uint64_t since_ns,
                std::vector<SeenChange>& changes);
  void NoteFresh(const std::vector<SeenChange>& changes, std::uint64_t since_ns);
  Result<std::string> WriteManifest();
  void LeaveKnown(const std::string& project) const;

  const Setup setup_;
  std::vector<TaskOf> tasks_;  // The loop's.
  Copies copies_;
  GitSide git_;
  std::mutex mutex_;  // Held by a look.
  bool opened_ = false;
  std::optional<std::string> last_;          // To be read by the first look.
  std::shared_ptr<const ProjectScan> scan_;  // That entries_ are of; null: not of this process.
  ManifestEntries entries_;                  // As they were last seen.
  std::set<std::string> uncovered_;
  /// Written so shortly before they were looked at that a later change may not show in their stat.
  std::set<std::string> fresh_;
  std::optional<std::string> manifest_;  // The last one; `changed_` is what came since.
  std::set<std::string> changed_;
  int differences_ = 0;  // Since the last one that is whole.
};

}  // namespace stet::tool
