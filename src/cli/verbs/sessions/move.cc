// What of `stet sessions` moves a leaf or makes copies: rewind, branch, clone, export and import.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/verbs/sessions/sessions.h"

namespace stet::cli {
namespace {

struct MovedReport {
  STET_FIELDS(MovedReport,
              (std::string, session_id),
              (protocol::OptionalText, old_leaf),
              (protocol::OptionalText, new_leaf))
};
struct ImportReport {
  STET_FIELDS(ImportReport, (std::string, session_id), (protocol::FaultReports, faults),
              (std::uint64_t, left_out), (std::vector<std::string>, left_out_names))
};

Result<int> TellMoved(const SessionsWork& work, const std::string& id, const client::Moved& moved) {
  if (work.given.json)
    return work.PrintJson(
        MovedReport{.session_id = id, .old_leaf = moved.old_leaf, .new_leaf = moved.new_leaf});
  work.console.Say(fmt::format("The leaf of {} is now {} (it was {}). Nothing was deleted.", id,
                               moved.new_leaf.value_or("before the first event"),
                               moved.old_leaf.value_or("before the first event")));
  return face::kExitDone;
}

}  // namespace

Result<int> RewindSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  const std::optional<std::string> target =
      work.given.to_start ? std::nullopt : std::optional(work.given.event);
  ASSIGN_OR_RETURN(const client::Moved moved,
                   work.Change(&client::Sessions::Rewind, id, target, work.given.expect));
  return TellMoved(work, id, moved);
}

Result<int> BranchSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const client::Moved moved,
                   work.Change(&client::Sessions::Branch, id, work.given.event, work.given.expect));
  return TellMoved(work, id, moved);
}

Result<int> CloneSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  ASSIGN_OR_RETURN(const std::string copy,
                   work.Change(&client::Sessions::Clone, id, work.given.at));
  if (work.given.json) return work.PrintJson(SessionRef{.session_id = copy});
  return work.Print(copy + "\n");
}

Result<int> ExportSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(const std::string id, work.Id());
  const auto format = work.given.jsonl ? client::ExportFormat::kJsonl : client::ExportFormat::kTar;
  std::string path =
      work.given.output.empty() ? id + (work.given.jsonl ? ".jsonl" : ".tar") : work.given.output;
  if (path == "-") {
    if (work.console.stdout_is_terminal() && !work.given.jsonl)
      return Fail(Code::kInvalid, "a tar does not belong on a terminal: name a file with -o");
    path.clear();
  }
  if (work.given.reveal)
    work.console.Say("stet: secrets that the session has seen stand in the export as they are");
  RETURN_IF_ERROR(client::Await(work.sessions, &client::Sessions::Export,
                                client::ExportWanted{.session_id = id,
                                                     .format = format,
                                                     .path = path,
                                                     .fd = STDOUT_FILENO,
                                                     .reveal = work.given.reveal}));
  if (!path.empty())
    work.console.Say(fmt::format("Wrote {}. `stet sessions import {}` takes it in.", path, path));
  return face::kExitDone;
}

Result<int> ImportSession(const SessionsWork& work) {
  ASSIGN_OR_RETURN(
      const client::Imported imported,
      client::Await(work.sessions, &client::Sessions::Import, work.given.file, work.given.new_id));
  if (work.given.json)
    return work.PrintJson(ImportReport{.session_id = imported.session_id,
                                       .faults = imported.faults,
                                       .left_out = imported.left_out,
                                       .left_out_names = imported.left_out_names});
  if (imported.left_out > 0) {
    work.console.Say(
        fmt::format("Left out {} of the tar, which no session has: {}{}",
                    Plural(imported.left_out, "member"), fmt::join(imported.left_out_names, ", "),
                    imported.left_out > imported.left_out_names.size() ? ", ..." : ""));
  }
  if (!imported.faults.empty()) {
    work.console.Say(fmt::format("Imported with {}; `stet sessions verify {}` lists what is wrong.",
                                 Plural(imported.faults.size(), "fault"), imported.session_id));
  }
  return work.Print(imported.session_id + "\n");
}

}  // namespace stet::cli
