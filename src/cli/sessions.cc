#include "cli/sessions.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_width.h"
#include "cli/display_view.h"
#include "cli/tree_view.h"
#include "client/await.h"
#include "face/cost_view.h"
#include "face/exit_codes.h"
#include "face/requests_view.h"

namespace stet::cli {
namespace {

/// What every verb works with.
struct Work {
  const SessionsCommand& command;
  client::Sessions& sessions;
  face::Console& console;

  /// The session that the command names.
  [[nodiscard]] Result<std::string> Id() const {
    return client::Await(sessions, &client::Sessions::Resolve, command.id);
  }

  template <class T>
  Result<int> PrintJson(const T& value) const {
    return Print(Encode(value) + "\n");
  }
  Result<int> Print(std::string_view text) const {
    return console.Print(text) ? face::kExitDone : face::kExitFailed;
  }
};

struct SessionRef {
  STET_FIELDS(SessionRef, (std::string, session_id))
};
struct MovedReport {
  STET_FIELDS(MovedReport,
              (std::string, session_id),
              (protocol::OptionalText, old_leaf),
              (protocol::OptionalText, new_leaf))
};
struct ImportReport {
  STET_FIELDS(ImportReport, (std::string, session_id), (protocol::FaultReports, faults))
};
struct GarbageReport {
  STET_FIELDS(GarbageReport,
              (std::vector<protocol::GarbageItem>, items),
              (std::uint64_t, bytes),
              (std::uint64_t, freed))
};

std::string Padded(std::string_view text, std::size_t columns) {
  std::string fitted = FitText(PrintableText(text), columns);
  fitted.append(columns - std::min(columns, TextWidth(fitted)), ' ');
  return fitted;
}

/// A session's title for a list: on one line, cut to fit.
std::string TitleText(const std::string& title, std::size_t columns) {
  return FitText(PrintableText(title.empty() ? "(untitled)" : OneLineText(title)), columns);
}

std::string Plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string WithChildren(std::uint64_t children) {
  return fmt::format("{} {}", children, children == 1 ? "child" : "children");
}

/// A child stands under its root, further in, with what it is for.
std::string IndentedId(const protocol::SessionSummary& row) {
  return row.root_session_id ? "  " + row.session_id : row.session_id;
}

std::string TitleOf(const protocol::SessionSummary& row) {
  if (!row.root_session_id) return row.title;
  const std::string agent = row.agent_id ? " " + *row.agent_id : "";
  return fmt::format("[{}{}] {}", row.kind, agent, row.title);
}

Result<int> List(const Work& work) {
  ASSIGN_OR_RETURN(const std::vector<protocol::SessionSummary> rows,
                   client::Await(work.sessions, &client::Sessions::List, work.command.all));
  if (work.command.json) return work.PrintJson(rows);
  if (rows.empty()) {
    work.console.Say("There are no sessions yet.");
    return face::kExitDone;
  }
  std::size_t id_columns = 0;  // An id is never cut: it is there to be copied.
  for (const protocol::SessionSummary& row : rows)
    id_columns = std::max(id_columns, IndentedId(row).size());
  constexpr std::size_t kAgeColumns = 12;
  constexpr std::size_t kCountColumns = 6;
  const std::size_t used = id_columns + kAgeColumns + kCountColumns + 6;
  const std::size_t title_columns =
      std::max<std::size_t>(20, work.console.columns() - std::min(work.console.columns(), used));
  const Millis now = SystemClock().Now();
  std::string out = work.console.Styled(
      face::Style::kDim, fmt::format("{:<{}}  {:<{}}  {:>{}}  {}\n", "ID", id_columns, "UPDATED",
                                     kAgeColumns, "TURNS", kCountColumns, "TITLE"));
  for (const protocol::SessionSummary& row : rows) {
    out += fmt::format("{}  {}  {:>{}}  {}\n", Padded(IndentedId(row), id_columns),
                       Padded(face::AgeText(row.updated_at, now), kAgeColumns), row.user_messages,
                       kCountColumns, TitleText(TitleOf(row), title_columns));
  }
  return work.Print(out);
}

Result<int> Cost(const Work& work, const std::string& id) {
  ASSIGN_OR_RETURN(const protocol::CostReport report,
                   client::Await(work.sessions, &client::Sessions::Cost, id));
  if (work.command.json) return work.PrintJson(report);
  return work.Print(face::CostText(report));
}

Result<int> Show(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  if (work.command.cost) return Cost(work, id);
  bool reader_stays = true;
  const auto print = [&](std::string_view text) { return reader_stays = work.console.Print(text); };
  if (work.command.json) {
    RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::RawEvents, id, work.command.at,
                                  [&](const protocol::Event& event) {
                                    std::string line;
                                    EncodeEvent(event, line);
                                    return print(line + '\n');
                                  }));
  } else {
    RETURN_IF_ERROR(client::Await(
        work.sessions, &client::Sessions::Transcript, id, work.command.at,
        [&](const protocol::DisplayRow& row) { return print(DisplayText(row, work.console)); }));
  }
  return reader_stays ? face::kExitDone : face::kExitFailed;
}

Result<int> Capsule(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const protocol::CapsuleReport report,
                   client::Await(work.sessions, &client::Sessions::Capsule, id));
  if (work.command.json) return work.Print(report.capsule.text + "\n");
  return work.Print(PrintableText(report.text) + "\n");
}

Result<int> Tree(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const protocol::SessionTree tree,
                   client::Await(work.sessions, &client::Sessions::Tree, id));
  if (work.command.json) return work.PrintJson(tree);
  return work.Print(TreeText(tree, work.command.all, work.console));
}

Result<int> TellMoved(const Work& work, const std::string& id, const client::Moved& moved) {
  if (work.command.json)
    return work.PrintJson(
        MovedReport{.session_id = id, .old_leaf = moved.old_leaf, .new_leaf = moved.new_leaf});
  work.console.Say(fmt::format("The leaf of {} is now {} (it was {}). Nothing was deleted.", id,
                               moved.new_leaf.value_or("before the first event"),
                               moved.old_leaf.value_or("before the first event")));
  return face::kExitDone;
}

Result<int> Rewind(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  const std::optional<std::string> target =
      work.command.to_start ? std::nullopt : std::optional(work.command.event);
  ASSIGN_OR_RETURN(
      const client::Moved moved,
      client::Await(work.sessions, &client::Sessions::Rewind, id, target, work.command.expect));
  return TellMoved(work, id, moved);
}

Result<int> Branch(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const client::Moved moved,
                   client::Await(work.sessions, &client::Sessions::Branch, id, work.command.event,
                                 work.command.expect));
  return TellMoved(work, id, moved);
}

Result<int> Clone(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const std::string copy,
                   client::Await(work.sessions, &client::Sessions::Clone, id, work.command.at));
  if (work.command.json) return work.PrintJson(SessionRef{.session_id = copy});
  return work.Print(copy + "\n");
}

Result<int> Export(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  const auto format =
      work.command.jsonl ? client::ExportFormat::kJsonl : client::ExportFormat::kTar;
  std::string path = work.command.output.empty() ? id + (work.command.jsonl ? ".jsonl" : ".tar")
                                                 : work.command.output;
  if (path == "-") {
    if (work.console.stdout_is_terminal() && !work.command.jsonl)
      return Fail(Code::kInvalid, "a tar does not belong on a terminal: name a file with -o");
    path.clear();
  }
  if (work.command.reveal)
    work.console.Say("stet: secrets that the session has seen stand in the export as they are");
  RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::Export,
                                client::ExportWanted{.session_id = id,
                                                     .format = format,
                                                     .path = path,
                                                     .fd = STDOUT_FILENO,
                                                     .reveal = work.command.reveal}));
  if (!path.empty())
    work.console.Say(fmt::format("Wrote {}. `stet sessions import {}` takes it in.", path, path));
  return face::kExitDone;
}

void TellFaults(const Work& work, const protocol::FaultReports& faults) {
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

Result<int> Import(const Work& work) {
  ASSIGN_OR_RETURN(const client::Imported imported,
                   client::Await(work.sessions, &client::Sessions::Import, work.command.file,
                                 work.command.new_id));
  if (work.command.json)
    return work.PrintJson(
        ImportReport{.session_id = imported.session_id, .faults = imported.faults});
  if (!imported.faults.empty()) {
    work.console.Say(fmt::format("Imported with {}; `stet sessions verify {}` lists what is wrong.",
                                 Plural(imported.faults.size(), "fault"), imported.session_id));
  }
  return work.Print(imported.session_id + "\n");
}

Result<int> VerifyOne(const Work& work, const std::string& id) {
  ASSIGN_OR_RETURN(const protocol::VerifyReport report,
                   client::Await(work.sessions, &client::Sessions::Verify, id));
  const int code = report.sound ? face::kExitDone : face::kExitFailed;
  if (work.command.json) {
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

Result<int> Verify(const Work& work) {
  if (!work.command.all) {
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

/// True when the user agrees; otherwise says why nothing happens.
bool Agreed(const Work& work, std::string_view question) {
  if (work.command.yes || work.console.Ask(question)) return true;
  work.console.Say(work.console.interactive()
                       ? "Nothing was done."
                       : "Nothing was done: there is no terminal to ask at. Add --yes to go on.");
  return false;
}

Result<int> Repair(const Work& work) {
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
  RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::Repair, id));
  work.console.Say("Done. Everything undamaged is readable, and the session can be continued.");
  return face::kExitDone;
}

Result<int> Remove(const Work& work) {
  std::vector<std::string> ids;
  for (const std::string& typed : work.command.ids) {
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
    RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::Remove, id));
    work.console.Say(
        fmt::format("Moved {} to the trash. `stet sessions restore {}` brings it back.", id, id));
  }
  return face::kExitDone;
}

Result<int> Restore(const Work& work) {
  if (!work.command.id.empty()) {
    ASSIGN_OR_RETURN(const std::string id,
                     client::Await(work.sessions, &client::Sessions::Restore, work.command.id));
    if (work.command.json) return work.PrintJson(SessionRef{.session_id = id});
    work.console.Say(fmt::format("{} is back.", id));
    return face::kExitDone;
  }
  ASSIGN_OR_RETURN(const std::vector<protocol::TrashRow> rows,
                   client::Await(work.sessions, &client::Sessions::Trash));
  if (work.command.json) return work.PrintJson(rows);
  if (rows.empty()) work.console.Say("The trash is empty.");
  for (const protocol::TrashRow& row : rows) {
    RETURN_IF_ERROR(work.Print(fmt::format(
        "{}  removed {}  {:>10}  {}{}\n", row.session_id, face::TimeText(row.removed_at),
        face::BytesText(row.bytes), TitleText(row.title, 60),
        row.root_session_id ? fmt::format(" (a child of {})", *row.root_session_id) : "")));
  }
  return face::kExitDone;
}

Result<int> DiskUse(const Work& work) {
  ASSIGN_OR_RETURN(const protocol::DiskUseReport report,
                   client::Await(work.sessions, &client::Sessions::DiskUse));
  if (work.command.json) return work.PrintJson(report);
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

bool IsHeld(const protocol::GarbageItem& item) { return item.kind == "held"; }

void TellHeld(const Work& work, const std::vector<protocol::GarbageItem>& items) {
  for (const protocol::GarbageItem& item : items) {
    if (!IsHeld(item)) continue;
    work.console.Say(
        fmt::format("stet: {} and what lies with it was passed over: process {} is writing it",
                    item.session_id, item.held_by.value_or(0)));
  }
}

Result<int> CollectGarbage(const Work& work) {
  ASSIGN_OR_RETURN(GarbageReport report, [&]() -> Result<GarbageReport> {
    ASSIGN_OR_RETURN(
        std::vector<protocol::GarbageItem> items,
        client::Await(work.sessions, &client::Sessions::FindGarbage, work.command.with_trash));
    return GarbageReport{.items = std::move(items)};
  }());
  for (const protocol::GarbageItem& item : report.items) report.bytes += item.bytes;
  TellHeld(work, report.items);
  if (!work.command.json) {
    std::erase_if(report.items, IsHeld);
    for (const protocol::GarbageItem& item : report.items) {
      RETURN_IF_ERROR(work.Print(fmt::format("{:>10}  {:<9}  {}\n", face::BytesText(item.bytes),
                                             item.kind, PrintableText(item.path))));
    }
  }
  const bool asks = !work.command.json || work.command.yes;
  if (std::ranges::all_of(report.items, IsHeld)) {
    work.console.Say("There is nothing to delete.");
  } else if (asks && Agreed(work, fmt::format("Delete these {} for good ({})?",
                                              Plural(report.items.size(), "file"),
                                              face::BytesText(report.bytes)))) {
    ASSIGN_OR_RETURN(report.freed,
                     client::Await(work.sessions, &client::Sessions::Collect, report.items));
    work.console.Say(fmt::format("Freed {}.", face::BytesText(report.freed)));
  }
  return work.command.json ? work.PrintJson(report) : face::kExitDone;
}

Result<int> Replay(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id,
                   client::Await(work.sessions, &client::Sessions::Resolve, work.command.id));
  ASSIGN_OR_RETURN(const protocol::ReplayReport report,
                   client::Await(work.sessions, &client::Sessions::Replay, id));
  if (work.command.json)
    RETURN_IF_ERROR(work.PrintJson(report));
  else
    RETURN_IF_ERROR(work.Print(face::ReplayText(report)));
  return report.different == 0 ? face::kExitDone : face::kExitFailed;
}

/// The session named, else the newest one of this folder.
Result<std::string> SessionHere(const Work& work) {
  if (!work.command.id.empty())
    return client::Await(work.sessions, &client::Sessions::Resolve, work.command.id);
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  ASSIGN_OR_RETURN(const auto all, client::Await(work.sessions, &client::Sessions::List, false));
  const auto here = std::ranges::find(all, cwd, &protocol::SessionSummary::cwd);
  if (here == all.end()) return Fail(Code::kNotFound, "this folder has no session yet: name one");
  return here->session_id;
}

Result<int> Context(const Work& work) {
  ASSIGN_OR_RETURN(const std::string id, SessionHere(work));
  protocol::ContextWanted wanted;
  wanted.count = work.command.count;
  wanted.wire = work.command.wire;
  ASSIGN_OR_RETURN(const protocol::ContextReport report,
                   client::Await(work.sessions, &client::Sessions::Context, id, wanted));
  if (work.command.json) return work.PrintJson(report);
  if (report.body) return work.Print(*report.body + "\n");
  return work.Print(face::ContextText(report));
}

struct Verb {
  std::string_view name;
  Result<int> (*run)(const Work&);
};

constexpr auto kVerbs = std::to_array<Verb>({
    {"ls", List},
    {"show", Show},
    {"capsule", Capsule},
    {"tree", Tree},
    {"rewind", Rewind},
    {"branch", Branch},
    {"clone", Clone},
    {"export", Export},
    {"import", Import},
    {"verify", Verify},
    {"repair", Repair},
    {"rm", Remove},
    {"restore", Restore},
    {"du", DiskUse},
    {"gc", CollectGarbage},
    {"replay", Replay},
    {"context", Context},
});

}  // namespace

Result<int> RunSessions(const SessionsCommand& command, client::Sessions& sessions,
                        face::Console& console) {
  for (const Verb& verb : kVerbs) {
    if (verb.name == command.verb) return verb.run({command, sessions, console});
  }
  return Fail(Code::kInvalid, fmt::format("unknown verb {}", command.verb));
}

}  // namespace stet::cli
