#include "store/verify_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "base/plain_file.h"
#include "log/log.h"
#include "log/unborn.h"
#include "log/verify.h"
#include "protocol/ids.h"

namespace stet::store {
namespace {

/// Puts the report together, folder by folder.
class TreeReport {
 public:
  TreeReport(const SessionStore& store, const SessionPlace& asked) : store_(store), asked_(asked) {
    report_.session_id = asked.session_id;
  }

  Result<protocol::VerifyReport> Make() {
    const Result<log::Verdict> own = log::Verify(asked_.dir);
    const bool alone = asked_.is_child || !HasChildren();
    if (!own && alone) return std::unexpected(own.error());
    if (own) {
      report_.plan = log::PlanRepair(*own);
      Count(*own, std::nullopt);
    } else {
      Add("unreadable", "session without a readable log", own.error().message, std::nullopt);
    }
    CheckFolder(asked_, std::nullopt);
    CheckHeader(asked_, std::nullopt);
    if (asked_.is_child) {
      CheckRoot();
      CheckId(asked_, std::nullopt);
    } else {
      VerifyChildren();
    }
    report_.sound = std::ranges::all_of(report_.faults, &protocol::FaultReport::recorded);
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::string Agents() const { return log::Paths{asked_.dir}.agents(); }
  [[nodiscard]] bool HasChildren() const { return KindOf(Agents()).has_value(); }

  void Add(std::string_view name, std::string_view title, std::string detail,
           const protocol::OptionalText& child) {
    protocol::FaultReport fault;
    fault.name = name;
    fault.title = title;
    fault.detail = std::move(detail);
    fault.session_id = child;
    report_.faults.push_back(std::move(fault));
  }

  void Count(const log::Verdict& verdict, const protocol::OptionalText& child) {
    report_.events += verdict.events;
    report_.lines += verdict.lines;
    report_.bytes += verdict.bytes;
    report_.blobs += verdict.blobs;
    for (protocol::FaultReport& fault : ReportsOf(verdict.faults)) {
      fault.session_id = child;
      report_.faults.push_back(std::move(fault));
    }
  }

  void VerifyChildren() {
    const Result<EntryKind> agents = KindOf(Agents());
    if (!agents) return;
    if (*agents != EntryKind::kDir) {
      Add("not_a_session", "not a folder of child sessions",
          Agents() + " is not a folder, and links are not followed", std::nullopt);
      return;
    }
    const Result<std::vector<DirEntry>> entries = ListDir(Agents());
    if (!entries) {
      Add("unreadable", "folder of child sessions that cannot be listed", entries.error().message,
          std::nullopt);
      return;
    }
    for (const DirEntry& entry : *entries) {
      const std::string path = Agents() + "/" + entry.name;
      if (entry.kind != EntryKind::kDir || !protocol::IsSessionId(entry.name))
        Add("not_a_session", "not a child session",
            path + (entry.kind == EntryKind::kDir ? " has a name that is no session's id"
                                                  : " is not a folder, and links are not followed"),
            std::nullopt);
      else if (log::IsUnborn({path}))
        Add("not_a_session", "folder in which no session came to be",
            path +
                " is what is left of making one that never had a log; `stet sessions gc` "
                "removes it",
            std::nullopt);
      else
        VerifyChild({entry.name, asked_.root_id, path, true});
    }
  }

  void VerifyChild(const SessionPlace& child) {
    ++report_.children;
    if (const Result<log::Verdict> verdict = log::Verify(child.dir))
      Count(*verdict, child.session_id);
    else
      Add("unreadable", "session without a readable log", verdict.error().message,
          child.session_id);
    CheckFolder(child, child.session_id);
    CheckHeader(child, child.session_id);
    CheckId(child, child.session_id);
  }

  /// Whether the session's own folder has only what one has.
  void CheckFolder(const SessionPlace& place, const protocol::OptionalText& told) {
    const Result<std::vector<DirEntry>> entries = ListDir(place.dir);
    if (!entries) return;  // Then its log was not read either.
    for (const DirEntry& entry : *entries) {
      const std::string path = place.dir + "/" + entry.name;
      const bool agents = entry.name == "agents";
      if (agents && !place.is_child) continue;  // VerifyChildren looks at it.
      if (agents)
        Add("nested_agents", "child with a folder of children",
            path + ": children lie flat in their root's folder, and none is looked for here", told);
      else if (entry.kind == EntryKind::kSymlink || entry.kind == EntryKind::kOther)
        Add("not_plain", "neither a file nor a folder",
            path + (entry.kind == EntryKind::kSymlink ? " is a link, which is not followed"
                                                      : " is a FIFO, a socket or a device"),
            told);
    }
  }

  /// Whether the session is what its header says, and lies where that does.
  void CheckHeader(const SessionPlace& place, const protocol::OptionalText& told) {
    const auto log = log::Log::Open(place.dir, {});
    if (!log) return;  // Told as unreadable, or as what is wrong with the log.
    const protocol::Header& header = (*log)->header();
    if (header.session_id != place.session_id)
      Add("foreign_id", "another session by its header",
          fmt::format("it says {} and its folder {}, which counts", header.session_id,
                      place.session_id),
          told);
    const protocol::OptionalText& root = header.root_session_id;
    if (root && !place.is_child)
      Add("child_as_root", "child by its header among the roots",
          fmt::format("its root {} {}", *root,
                      store_.Locate(*root) ? "has it not in its folder" : "is not there"),
          told);
    else if (root && *root != place.root_id)
      Add("foreign_root", "child of another session by its header",
          fmt::format("it says {} and lies in {}, which counts", *root, place.root_id), told);
  }

  /// Of a child that was asked for alone.
  void CheckRoot() {
    const log::Paths root{store_.NewDir(asked_.root_id)};
    if (const Result<std::uint64_t> log = PlainFileSize(root.events()); !log)
      Add("missing_root", "child of a session without a log", log.error().message, std::nullopt);
  }

  /// Whether the child alone has its id.
  void CheckId(const SessionPlace& child, const protocol::OptionalText& told) {
    const auto add = [&](const std::string& other, std::string_view which) {
      Add("id_taken", "id that several sessions have",
          fmt::format("{} and {}: {} is opened by that id", other, child.dir, which), told);
    };
    const std::string root = store_.NewDir(child.session_id);
    if (KindOf(root) == EntryKind::kDir) return add(root, "the first");
    if (!others_) others_ = store_.Children().value_or(std::vector<SessionPlace>());
    for (const SessionPlace& other : *others_) {
      if (other.session_id == child.session_id && other.dir != child.dir)
        return add(other.dir, "neither");
    }
  }

  const SessionStore& store_;
  const SessionPlace& asked_;
  protocol::VerifyReport report_;
  std::optional<std::vector<SessionPlace>> others_;  // The children of all roots, once looked for.
};

}  // namespace

protocol::FaultReports ReportsOf(const std::vector<log::Fault>& faults) {
  protocol::FaultReports reports;
  for (const log::Fault& fault : faults) {
    protocol::FaultReport report;
    report.name = log::FaultName(fault.kind);
    report.title = log::FaultTitle(fault.kind);
    report.line = fault.line;
    report.offset = fault.offset;
    report.length = fault.length;
    report.id = fault.id;
    report.detail = fault.detail;
    report.recorded = fault.recorded;
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<protocol::VerifyReport> VerifyTree(const SessionStore& store,
                                          const std::string& session_id) {
  ASSIGN_OR_RETURN(const SessionPlace place, store.Locate(session_id));
  return TreeReport(store, place).Make();
}

}  // namespace stet::store
