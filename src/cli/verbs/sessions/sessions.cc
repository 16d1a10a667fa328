#include "cli/verbs/sessions/sessions.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/display_width.h"
#include "cli/verb.h"

namespace stet::cli {
namespace {

using Given = std::shared_ptr<SessionsArguments>;
using Does = Result<int> (*)(const SessionsWork&);

auto Runs(const Given& given, Does does) {
  return [given, does](const VerbEnvironment& with) -> Result<int> {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, with.clients.sessions());
    return does({*given, *sessions, with.console});
  };
}

/// What needs the session's lane.
auto RunsLive(const Given& given, Result<int> (*does)(const SessionsWork&, client::Live&)) {
  return [given, does](const VerbEnvironment& with) -> Result<int> {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, with.clients.sessions());
    const face::SlowNotice slow(with.console, "the files to be looked at");
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Live> live,
                     with.clients.live(client::Work::kOldSession, "cli"));
    return does({*given, *sessions, with.console}, *live);
  };
}

std::string WrongRewind(const SessionsArguments& given) {
  const bool one = given.event.empty() == given.to_start;
  return one ? "" : "rewind needs an event to go back to, or --to-start";
}

std::string WrongVerify(const SessionsArguments& given) {
  return given.id.empty() == given.all ? "" : "verify needs a session, or --all";
}

std::vector<Verb> Reading(const Given& given) {
  const Option id{.names = "ID",
                  .target = &given->id,
                  .help = "The session: its id, or enough of its beginning",
                  .required = true};
  const Option json = JsonFlag(given->json);
  const auto runs = [&](Does does) { return Runs(given, does); };
  return {
      {.name = "ls",
       .help = "List sessions, newest first",
       .options = {{"--all", &given->all, "Child sessions too, each under its root"}, json},
       .run = runs(ListSessions)},
      {.name = "show",
       .help = "Print a session's transcript",
       .options = {id,
                   {"--at", &given->at, "Up to this event instead of the leaf"},
                   {"--cost", &given->cost,
                    "What its model calls came to, instead of the transcript"},
                   json},
       .run = runs(ShowSession)},
      {.name = "capsule",
       .help = "Print where a run stands, as a compaction carries it",
       .options = {id, json},
       .run = runs(ShowCapsule)},
      {.name = "tree",
       .help = "Draw a session's branches",
       .options = {id, {"--all", &given->all, "Every event, not only turns and forks"}, json},
       .run = runs(ShowTree)},
  };
}

std::vector<Verb> Moving(const Given& given) {
  const Option id{.names = "ID",
                  .target = &given->id,
                  .help = "The session: its id, or enough of its beginning",
                  .required = true};
  const Option json = JsonFlag(given->json);
  const Option expect{"--expect", &given->expect, "Fail unless this event is the leaf now"};
  const auto runs = [&](Does does) { return Runs(given, does); };
  return {
      {.name = "rewind",
       .help = "Go back to an earlier event; nothing is deleted",
       .options = {id,
                   {"EVENT", &given->event, "The event to go back to"},
                   {"--to-start", &given->to_start, "To before the first event"},
                   expect,
                   json},
       .run = runs(RewindSession),
       .wrong = [given] { return WrongRewind(*given); }},
      {.name = "branch",
       .help = "Go to another branch's leaf",
       .options = {id,
                   {.names = "LEAF",
                    .target = &given->event,
                    .help = "The leaf to go to (see `tree`)",
                    .required = true},
                   expect,
                   json},
       .run = runs(BranchSession)},
      {.name = "restore-files",
       .help = "Put files back as they were at an event, whatever changed them",
       .options = {id,
                   {.names = "--to",
                    .target = &given->event,
                    .help = "The event (see `tree`), or `start`",
                    .required = true},
                   {"--dry-run", &given->dry_run, "Only say what would be put back"},
                   {"--all", &given->all, "Also what something else changed as well"},
                   {"--stop-tasks", &given->stop_tasks, "Stop what runs in its background first"},
                   {"-y,--yes", &given->yes, "Do not ask"},
                   json},
       .run = RunsLive(given, RestoreFiles)},
      {.name = "clone",
       .help = "Copy a session's path into a new session",
       .options = {id, {"--at", &given->at, "Up to this event instead of the leaf"}, json},
       .run = runs(CloneSession)},
      {.name = "export",
       .help = "Write a session and its children to a tar, or its log alone",
       .options = {id,
                   {"-o,--output", &given->output,
                    "The file to write (default: ID.tar or ID.jsonl here; - for stdout)"},
                   {"--jsonl", &given->jsonl, "The log alone, without blobs and child sessions"},
                   {"--reveal", &given->reveal, "Do not mask what looks like a secret"}},
       .run = runs(ExportSession)},
      {.name = "import",
       .help = "Take in an exported session (a tar or a JSONL)",
       .options = {{.names = "FILE",
                    .target = &given->file,
                    .help = "The file (- for stdin)",
                    .required = true},
                   {"--new-id", &given->new_id, "Under a new id, when its own is taken"},
                   json},
       .run = runs(ImportSession)},
  };
}

std::vector<Verb> Keeping(const Given& given) {
  const Option id{.names = "ID",
                  .target = &given->id,
                  .help = "The session: its id, or enough of its beginning",
                  .required = true};
  const Option json = JsonFlag(given->json);
  const Option yes{"-y,--yes", &given->yes, "Do not ask"};
  const auto runs = [&](Does does) { return Runs(given, does); };
  return {
      {.name = "verify",
       .help = "Check every byte of a session; exit code 0 when it is sound",
       .options = {{"ID", &given->id, "The session"},
                   {"--all", &given->all, "Every session"},
                   json},
       .run = runs(VerifySessions),
       .wrong = [given] { return WrongVerify(*given); }},
      {.name = "repair",
       .help = "Set damage aside and rebuild what can be rebuilt; says what before it acts",
       .options = {id, yes},
       .run = runs(RepairSession)},
      {.name = "rm",
       .help = "Move sessions to the trash",
       .options = {{.names = "ID", .target = &given->ids, .help = "The sessions", .required = true},
                   yes},
       .run = runs(RemoveSessions)},
      {.name = "restore",
       .help = "Bring a session back from the trash, or list the trash",
       .options = {{"ID", &given->id, "The removed session"}, json},
       .run = runs(RestoreSession)},
      {.name = "du",
       .help = "Show what sessions take on disk",
       .options = {json},
       .run = runs(ShowDiskUse)},
      {.name = "gc",
       .help = "Find what no event needs, and delete it for good when you say so",
       .options = {{"--trash", &given->with_trash, "The trash as well"}, yes, json},
       .run = runs(CollectGarbage)},
  };
}

}  // namespace

std::string TitleText(const std::string& title, std::size_t columns) {
  return FitText(PrintableText(title.empty() ? "(untitled)" : OneLineText(title)), columns);
}

std::string Plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

VerbEntry SessionsVerb() {
  return {"sessions", "List, read, move around in, copy, check and remove stored sessions",
          [](Verb& sessions) {
            const auto given = std::make_shared<SessionsArguments>();
            for (std::vector<Verb> verbs : {Reading(given), Moving(given), Keeping(given)})
              std::ranges::move(verbs, std::back_inserter(sessions.verbs));
          }};
}

}  // namespace stet::cli
