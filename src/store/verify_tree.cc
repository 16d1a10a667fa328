#include "store/verify_tree.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fs.h"
#include "log/log.h"
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
    if (asked_.is_child)
      CheckPlace(asked_, std::nullopt);
    else
      VerifyChildren();
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
    CheckPlace(child, child.session_id);
  }

  /// Whether a child lies where its header says, and alone has its id.
  void CheckPlace(const SessionPlace& child, const protocol::OptionalText& told) {
    if (const auto log = log::Log::Open(child.dir, {})) {
      const protocol::OptionalText& root = (*log)->header().root_session_id;
      if (root && *root != child.root_id)
        Add("foreign_root", "child of another session by its header",
            fmt::format("it says {} and lies in {}, which counts", *root, child.root_id), told);
    }
    const Result<SessionPlace> found = store_.Locate(child.session_id);
    if (!found)
      Add("id_taken", "id that several sessions have", found.error().message, told);
    else if (found->dir != child.dir)
      Add("id_taken", "id that several sessions have",
          fmt::format("{} and {}: the first is opened by that id", found->dir, child.dir), told);
  }

  const SessionStore& store_;
  const SessionPlace& asked_;
  protocol::VerifyReport report_;
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
