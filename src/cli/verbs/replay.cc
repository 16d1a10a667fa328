// `stet replay`: whether a session's log still makes the requests that were sent.
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"
#include "face/requests_view.h"

namespace stet::cli {
namespace {

struct ReplayArguments {
  std::string id;
  bool json = false;
};

Result<int> RunReplay(const ReplayArguments& given, client::Sessions& sessions,
                      face::Console& console) {
  ASSIGN_OR_RETURN(const std::string id,
                   client::Await(sessions, &client::Sessions::Resolve, given.id));
  ASSIGN_OR_RETURN(const protocol::ReplayReport report,
                   client::Await(sessions, &client::Sessions::Replay, id));
  const bool told = given.json ? console.PrintJson(Encode(report) + "\n")
                               : console.Print(face::ReplayText(report));
  return told && report.different == 0 ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry ReplayVerb() {
  return {"replay",
          "Make a session's requests again from its log, and compare them with those sent",
          [](Verb& replay) {
            const auto given = std::make_shared<ReplayArguments>();
            replay.options = {{.names = "ID",
                               .target = &given->id,
                               .help = "The session, or the beginning of its id",
                               .required = true},
                              JsonFlag(given->json)};
            replay.run = Asks<&face::Clients::sessions>(given, RunReplay);
          }};
}

}  // namespace stet::cli
