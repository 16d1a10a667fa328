// SessionStore: the folders of a device's sessions and its trash. Finds, lists and names them; what
// is inside a session is log/'s business. Reads nothing until asked. Owned by the host; one thread
// at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/roots.h"
#include "protocol/session.h"

namespace stet::host {

class SessionStore {
 public:
  explicit SessionStore(config::Roots roots) : roots_(std::move(roots)) {}

  /// The folder of a session, whether it exists or not.
  [[nodiscard]] std::string DirOf(std::string_view session_id) const;
  [[nodiscard]] const config::Roots& roots() const { return roots_; }

  /// Ids of all sessions, sorted.
  [[nodiscard]] Result<std::vector<std::string>> Ids() const;
  /// Summaries, newest first. A summary that is missing or older than its log is made from the log,
  /// in memory; a session that cannot be read is listed by its id alone.
  [[nodiscard]] Result<std::vector<protocol::SessionSummary>> List() const;
  [[nodiscard]] Result<protocol::SessionSummary> Describe(const std::string& session_id) const;
  /// See client::Sessions::Resolve.
  [[nodiscard]] Result<std::string> Resolve(std::string_view typed) const;

  /// Moves the session's folder to the trash under its id and the time.
  Status Remove(const std::string& session_id);
  [[nodiscard]] Result<std::vector<protocol::TrashRow>> Trash() const;
  Result<std::string> Restore(std::string_view typed);

  /// Bytes on disk of every session, largest first, and of the trash.
  [[nodiscard]] Result<protocol::DiskUseReport> DiskUse() const;

 private:
  config::Roots roots_;
};

}  // namespace stet::host
