#include "lane/restore.h"

#include <map>

#include <unistd.h>

#include "agent/workbench.h"
#include "base/fs.h"
#include "base/hash.h"

namespace stet::lane {
namespace {

/// What happened to one file: the first fact says how it was, the last how it was left.
struct Change {
  protocol::FileFact first;
  protocol::FileFact last;
};

Result<std::map<std::string, Change>> ChangesAfter(const log::Log& log, log::Ordinal from) {
  std::map<std::string, Change> changes;
  const std::vector<log::Entry>& entries = log.index().entries();
  for (log::Ordinal event = from; event < entries.size(); ++event) {
    if (entries[event].type != protocol::kTypeNumber<protocol::FileFact>) continue;
    ASSIGN_OR_RETURN(const protocol::Event found, log.EventAt(event));
    const auto* fact = std::get_if<protocol::FileFact>(&found.payload);
    if (fact == nullptr || fact->op == "read") continue;
    const auto [change, is_new] = changes.try_emplace(fact->path, Change{*fact, *fact});
    if (!is_new) change->second.last = *fact;
  }
  return changes;
}

bool ChangedSince(const Change& change) {
  const Result<std::string> now = Sha256File(change.last.path);
  if (!now) return change.last.after.has_value();
  return !change.last.after || *now != *change.last.after;
}

Status PutBack(log::Log& log, const Change& change) {
  protocol::FileFact fact;
  fact.op = change.first.before ? "write" : "delete";
  fact.path = change.first.path;
  fact.before = change.last.after;
  fact.after = change.first.before;
  if (const Result<std::string> now = ReadFile(fact.path)) {
    ASSIGN_OR_RETURN(fact.before_blob, log.blobs().Put(*now));
  }
  std::string content;
  if (change.first.before_blob) {
    ASSIGN_OR_RETURN(content, log.blobs().Get(*change.first.before_blob));
  }
  RETURN_IF_ERROR(agent::AppendEvent(log, std::move(fact), {}));
  if (change.first.before) return ReplaceFile(change.first.path, content, Durable::kYes, 0666);
  if (::unlink(change.first.path.c_str()) != 0 && errno != ENOENT)
    return FailSystem(errno, "delete " + change.first.path);
  return {};
}

}  // namespace

Result<protocol::FileRows> FilesSince(log::Log& log, const std::optional<std::string>& target,
                                      bool restore) {
  log::Ordinal from = 0;
  if (target) {
    ASSIGN_OR_RETURN(const log::Ordinal event, log.Find(*target));
    from = event + 1;
  }
  ASSIGN_OR_RETURN(const auto changes, ChangesAfter(log, from));
  protocol::FileRows rows;
  for (const auto& [path, change] : changes) {
    protocol::FileRow& row = rows.emplace_back();
    row.path = path;
    row.op = change.last.op;
    // A file that was not there before is put back by deleting it.
    row.can_restore = change.first.op != "outside_write" &&
                      (change.first.before_blob.has_value() || !change.first.before);
    row.changed_since = ChangedSince(change);
    if (!restore || !row.can_restore || row.changed_since) continue;
    RETURN_IF_ERROR(PutBack(log, change));
    row.restored = true;
  }
  return rows;
}

}  // namespace stet::lane
