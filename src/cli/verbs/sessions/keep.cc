// What of `stet sessions` looks after what is stored: verify, repair, rm, restore, du and gc.
#include <algorithm>

#include <fmt/format.h>

#include "base/display_width.h"
#include "cli/verbs/sessions/sessions.h"

namespace stet::cli {
namespace {

struct GarbageReport {
  STET_FIELDS(GarbageReport,
              (std::vector<protocol::GarbageItem>, items),
              (std::uint64_t, bytes),
              (std::uint64_t, freed))
};

std::string WithChildren(std::uint64_t children) {
  return fmt::format("{} {}", children, children == 1 ? "child" : "children");
}

void TellFaults(const SessionsWork& work, const protocol::FaultReports& faults) {
  for (const protocol::FaultReport& fault : faults) {
    std::string where =
        fault.line > 0 ? fmt::format("line {}, byte {}: ", fault.line, fault.offset) : "";
    (void)work.console.Print(fmt::format(
        "  {}{}{}{}: {}{}\n", fault.session_id ? PrintableText(*fault.session_id) + ": " : "",
        where, work.console.Styled(face::Style::kRed, fault.title),
        fault.id.empty() ? "" : " " + PrintableText(fault.id), PrintableText(fault.detail),
        fault.recorded ? " (recorded: nothing left to do)" : ""));
  }
}

Result<int> VerifyOne(const SessionsWork& work, const std::string& id) {
  ASSIGN_OR_RETURN(const protocol::VerifyReport report,
                   client::Await(work.sessions, &client::Sessions::Verify, id));
  const int code = report.sound ? face::kExitDone : face::kExitFailed;
  if (work.given.json) {
    RETURN_IF_ERROR(work.PrintJson(report));
    return code;
  }
  const std::string verdict = report.sound ? work.console.Styled(face::Style::kGreen, "sound")
                                           : work.console.Styled(face::Style::kRed, "not sound");
  RETURN_IF_ERROR(
      work.Print(fmt::format("{}: {}: {}{}, {}, {}\n", id, verdict,
                             report.children > 0 ? WithChildren(report.children) + ", " : "",
                             Plural(report.events, "event"), face::BytesText(report.bytes),
                             Plural(report.faults.size(), "fault"))));
  TellFaults(work, report.faults);
  if (!report.plan.empty())
    work.console.Say(
        fmt::format("`stet sessions repair {}` would set this right as far as it can be.", id));
  return code;
}

/// True when the user agrees; otherwise says why nothing happens.
bool Agreed(const SessionsWork& work, std::string_view question) {
  if (work.given.yes || work.console.Ask(question)) return true;
  work.console.Say(work.console.interactive()
                       ? "Nothing was done."
                       : "Nothing was done: there is no terminal to ask at. Add --yes to go on.");
  return false;
}

bool IsHeld(const protocol::GarbageItem& item) { return item.kind == "held"; }

void TellHeld(const SessionsWork& work, const std::vector<protocol::GarbageItem>& items) {
  for (const protocol::GarbageItem& item : items) {
    if (!IsHeld(item)) continue;
    work.console.Say(
        fmt::format("stet: {} and what lies with it was passed over: process {} is writing it",
                    item.session_id, item.held_by.value_or(0)));
  }
}

}  // namespace

Result<int> VerifySessions(const SessionsWork& work) {
  if (!work.given.all) {
    ASSIGN_OR_RETURN(const std::string id, work.Id());
    return VerifyOne(work, id);
  }
  ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> rows,
                   client::Await(work.sessions, &client::Sessions::List, false));
  int code = face::kExitDone;
  for (const protocol::SessionSummary& row : rows) {
    const Result<int> one = VerifyOne(work, row.session_id);
    if (!one) work.console.Say(fmt::format("{}: {}", row.session_id, one.error().Text()));
    if (!one || *one != face::kExitDone) code = face::kExitFailed;
  }
  return code;
}

Result<int> RepairSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const protocol::VerifyReport report,
                   client::Await(work.sessions, &client::Sessions::Verify, id));
  TellFaults(work, report.faults);
  if (report.plan.empty()) {
    work.console.Say(report.sound
                         ? "The session is sound: there is nothing to repair."
                         : "Nothing of this can be repaired; everything undamaged stays readable.");
    return report.sound ? face::kExitDone : face::kExitFailed;
  }
  work.console.Say("A repair would:");
  for (const std::string& step : report.plan) work.console.Say("  - " + step);
  if (!Agreed(work, "Do this?")) return face::kExitFailed;
  RETURN_IF_ERROR(work.Change(&client::Sessions::Repair, id));
  work.console.Say("Done. Everything undamaged is readable, and the session can be continued.");
  return face::kExitDone;
}

Result<int> RemoveSessions(const SessionsWork& work) {
  std::vector<std::string> ids;
  for (const std::string& typed : work.given.ids) {
    ASSIGN_OR_RETURN(ids.emplace_back(),
                     client::Await(work.sessions, &client::Sessions::Resolve, typed));
  }
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(const protocol::SessionSummary summary,
                     client::Await(work.sessions, &client::Sessions::Describe, id));
    if (!Agreed(work,
                fmt::format("Move {} \"{}\"{} to the trash?", id, TitleText(summary.title, 60),
                            summary.root_session_id ? ", a child of " + *summary.root_session_id
                                                    : " and its children")))
      return face::kExitFailed;
    RETURN_IF_ERROR(work.Change(&client::Sessions::Remove, id));
    work.console.Say(
        fmt::format("Moved {} to the trash. `stet sessions restore {}` brings it back.", id, id));
  }
  return face::kExitDone;
}

Result<int> RestoreSession(const SessionsWork& work) {
  if (!work.given.id.empty()) {
    ASSIGN_OR_RETURN(const std::string id, work.Change(&client::Sessions::Restore, work.given.id));
    if (work.given.json) return work.PrintJson(SessionRef{.session_id = id});
    work.console.Say(fmt::format("{} is back.", id));
    return face::kExitDone;
  }
  ASSIGN_OR_RETURN(const std::vector<protocol::TrashRow> rows,
                   client::Await(work.sessions, &client::Sessions::Trash));
  if (work.given.json) return work.PrintJson(rows);
  if (rows.empty()) work.console.Say("The trash is empty.");
  for (const protocol::TrashRow& row : rows) {
    RETURN_IF_ERROR(work.Print(fmt::format(
        "{}  removed {}  {:>10}  {}{}\n", PrintableText(row.session_id),
        face::TimeText(row.removed_at), face::BytesText(row.bytes), TitleText(row.title, 60),
        row.root_session_id ? fmt::format(" (a child of {})", *row.root_session_id) : "")));
  }
  return face::kExitDone;
}

Result<int> ShowDiskUse(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const protocol::DiskUseReport report,
                   client::Await(work.sessions, &client::Sessions::DiskUse));
  if (work.given.json) return work.PrintJson(report);
  std::string out;
  for (const protocol::DiskUseRow& row : report.sessions) {
    out +=
        fmt::format("{:>10}  {}  {}{}\n", face::BytesText(row.total_bytes), row.session_id,
                    TitleText(row.title, 50),
                    row.children > 0 ? fmt::format(" (with {})", WithChildren(row.children)) : "");
  }
  out += fmt::format("{:>10}  trash\n{:>10}  total\n", face::BytesText(report.trash_bytes),
                     face::BytesText(report.total_bytes));
  return work.Print(out);
}

Result<int> CollectGarbage(const SessionsWork& work) {
  ASSIGN_OR_RETURN(GarbageReport report, [&]() -> Result<GarbageReport> {
    ASSIGN_OR_RETURN(
        std::vector<protocol::GarbageItem> items,
        client::Await(work.sessions, &client::Sessions::FindGarbage, work.given.with_trash));
    return GarbageReport{.items = std::move(items)};
  }());
  for (const protocol::GarbageItem& item : report.items) report.bytes += item.bytes;
  TellHeld(work, report.items);
  if (!work.given.json) {
    std::erase_if(report.items, IsHeld);
    for (const protocol::GarbageItem& item : report.items) {
      RETURN_IF_ERROR(work.Print(fmt::format("{:>10}  {:<9}  {}\n", face::BytesText(item.bytes),
                                             item.kind, PrintableText(item.path))));
    }
  }
  // JSON without --yes only tells what there is.
  const bool asks = !work.given.json || work.given.yes;
  if (std::ranges::all_of(report.items, IsHeld)) {
    work.console.Say("There is nothing to delete.");
  } else if (asks) {
    if (!Agreed(work,
                fmt::format("Delete these {} for good ({})?", Plural(report.items.size(), "file"),
                            face::BytesText(report.bytes))))
      return face::kExitFailed;
    ASSIGN_OR_RETURN(report.freed,
                     client::Await(work.sessions, &client::Sessions::Collect, report.items));
    work.console.Say(fmt::format("Freed {}.", face::BytesText(report.freed)));
  }
  return work.given.json ? work.PrintJson(report) : face::kExitDone;
}

}  // namespace stet::cli
