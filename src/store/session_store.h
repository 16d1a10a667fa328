// SessionStore: the folders of a device's sessions and its trash. Finds, lists and names them; what
// is inside a session is log/'s business. Reads nothing until asked. Owned by the host; one thread
// at a time.
//
// A root session's folder is sessions/<id>. A child session (an agent's) lies flat in the folder of
// its root: sessions/<root>/agents/<id>, whichever session its parent is and whatever its header
// says. Names that cannot be a session's are passed over, and no symlink is followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/roots.h"
#include "protocol/session.h"

namespace stet::store {

/// Where a session is.
struct SessionPlace {
  std::string session_id;
  std::string root_id;  // Of the session in whose folder it lies; a root's own id.
  std::string dir;
  bool is_child = false;
};

/// The folders in `dir` that may be sessions', by id, sorted, unborn ones among them; none when it
/// is no folder.
std::vector<std::string> SessionsIn(const std::string& dir);

class SessionStore {
 public:
  explicit SessionStore(config::Roots roots) : roots_(std::move(roots)) {}

  [[nodiscard]] const config::Roots& roots() const { return roots_; }

  /// The session with exactly this id. A root costs two looks at the disk, however many sessions
  /// there are; a child one for each root, and three when it is the one that was found last. No log
  /// is opened, and a folder in which no session came to be (log::IsUnborn) is none. kInvalid when
  /// it cannot be an id, kNotFound, kCorrupt naming the places when children of several roots have
  /// the id.
  [[nodiscard]] Result<SessionPlace> Locate(std::string_view session_id) const;
  /// Its folder.
  [[nodiscard]] Result<std::string> Find(std::string_view session_id) const;

  /// Where the folder of a new root session goes, whose id was minted. CheckFree is for an id that
  /// was chosen by a user: kConflict when a root or a child has it.
  [[nodiscard]] std::string NewDir(std::string_view session_id) const;
  [[nodiscard]] Status CheckFree(std::string_view session_id) const;
  /// Where a new child of `parent_id`, itself a root or a child, goes: into the parent's root.
  /// Makes nothing. kConflict when the root or a child in it has the id.
  [[nodiscard]] Result<SessionPlace> NewChild(std::string_view parent_id,
                                              std::string_view session_id) const;

  /// Ids of all root sessions, sorted; and of the children in a root's folder, sorted.
  [[nodiscard]] Result<std::vector<std::string>> Ids() const;
  [[nodiscard]] std::vector<std::string> ChildIds(std::string_view root_id) const;
  /// The folders, among roots and children, in which no session came to be.
  [[nodiscard]] Result<std::vector<std::string>> UnbornDirs() const;
  /// The children of all roots, in the order of the roots' ids, then of their own: one look at each
  /// root.
  [[nodiscard]] Result<std::vector<SessionPlace>> Children() const;
  /// The folders of a tree: the root's, then its children's, unborn ones among them; of a child its
  /// own alone.
  [[nodiscard]] std::vector<std::string> TreeDirs(const SessionPlace& place) const;
  /// Summaries of the roots, newest first; with `all` each root's children behind it, oldest first.
  /// A summary that is missing or older than its log is made from the log, in memory; a session
  /// that cannot be read is listed by its id, with the reason as its title.
  [[nodiscard]] Result<std::vector<protocol::SessionSummary>> List(bool all = false) const;
  /// The newest root that was started in `cwd`: what `--continue` means. One in which nothing was
  /// said only when there is no other. kNotFound.
  [[nodiscard]] Result<std::string> Newest(const std::string& cwd) const;
  [[nodiscard]] Result<protocol::SessionSummary> Describe(const std::string& session_id) const;
  /// See client::Sessions::Resolve.
  [[nodiscard]] Result<std::string> Resolve(std::string_view typed) const;

  /// Moves the session's folder to the trash, under the locks of its tree: a root with its
  /// children, a child alone.
  Status Remove(const std::string& session_id);
  [[nodiscard]] Result<std::vector<protocol::TrashRow>> Trash() const;
  /// The folder of what was removed.
  [[nodiscard]] std::string TrashDir(const protocol::TrashRow& row) const;
  /// Back to where it lay. kConflict when its id is taken by now, kNotFound when a child's root is
  /// gone.
  Result<std::string> Restore(std::string_view typed);

  /// Bytes on disk of every root with its children and of every temporary folder beside them, by
  /// its name, largest first; and of the trash.
  [[nodiscard]] Result<protocol::DiskUseReport> DiskUse() const;

 private:
  [[nodiscard]] std::string ChildDir(std::string_view root_id, std::string_view session_id) const;
  /// The folders that may be roots', by id, sorted, unborn ones among them.
  [[nodiscard]] Result<std::vector<std::string>> RootFolders() const;
  /// Every child with that id, in the order of the roots' ids.
  [[nodiscard]] Result<std::vector<SessionPlace>> ChildrenNamed(std::string_view session_id) const;

  config::Roots roots_;
  /// A verb resolves what was typed and then opens it: the second look is spared all roots.
  mutable std::optional<SessionPlace> last_child_;
};

}  // namespace stet::store
