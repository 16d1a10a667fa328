// `stet context`: what a session would send next.
#include <algorithm>
#include <filesystem>

#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"
#include "face/requests_view.h"

namespace stet::cli {
namespace {

struct ContextArguments {
  std::string id;
  bool count = false;
  bool wire = false;
  bool json = false;
};

/// The session named, else the newest one of this folder.
Result<std::string> SessionHere(const std::string& typed, client::Sessions& sessions) {
  if (!typed.empty()) return client::Await(sessions, &client::Sessions::Resolve, typed);
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  ASSIGN_OR_RETURN(const auto all, client::Await(sessions, &client::Sessions::List, false));
  const auto here = std::ranges::find(all, cwd, &protocol::SessionSummary::cwd);
  if (here == all.end()) return Fail(Code::kNotFound, "this folder has no session yet: name one");
  return here->session_id;
}

Result<int> RunContext(const ContextArguments& given, client::Sessions& sessions,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const std::string id, SessionHere(given.id, sessions));
  protocol::ContextWanted wanted;
  wanted.count = given.count;
  wanted.wire = given.wire;
  ASSIGN_OR_RETURN(const protocol::ContextReport report,
                   client::Await(sessions, &client::Sessions::Context, id, wanted));
  const bool told = given.json    ? console.PrintJson(Encode(report) + "\n")
                    : report.body ? console.PrintJson(*report.body + "\n")
                                  : console.Print(face::ContextText(report));
  return told ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry ContextVerb() {
  return {"context", "Show what a session would send next, and what it is made of",
          [](Verb& context) {
            const auto given = std::make_shared<ContextArguments>();
            context.options = {
                {"ID", &given->id, "The session; the newest one of this folder by default"},
                {"--count", &given->count, "Let the model's server count the tokens"},
                {.names = "--wire",
                 .target = &given->wire,
                 .help = "The request itself, as it would be sent",
                 .excludes = "--count"},
                JsonFlag(given->json),
            };
            context.run = Asks<&face::Clients::sessions>(given, RunContext);
          }};
}

}  // namespace stet::cli
