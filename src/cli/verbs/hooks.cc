// `stet hooks`: what is configured to run when something happens, and where it is from.
#include <filesystem>

#include <fmt/format.h>

#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"
#include "face/hooks_view.h"

namespace stet::cli {
namespace {

struct HooksArguments {
  std::string cwd;  // The folder whose sessions are meant; empty: this one.
  bool json = false;
};

Result<int> RunHooks(const HooksArguments& command, client::Device& device,
                     face::Console& console) {
  std::error_code error;
  const std::string here =
      std::filesystem::canonical(command.cwd.empty() ? "." : command.cwd, error);
  if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", command.cwd));
  ASSIGN_OR_RETURN(const protocol::HookRows rows,
                   client::Await(device, &client::Device::Hooks, here));
  const bool told =
      command.json ? console.PrintJson(Encode(rows) + "\n") : console.Print(face::HooksText(rows));
  return told ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry HooksVerb() {
  return {"hooks", "Show what runs when something happens", [](Verb& hooks) {
            const auto given = std::make_shared<HooksArguments>();
            hooks.verbs = {
                {.name = "ls",
                 .help = "List the hooks, and where each comes from",
                 .options = {{"FOLDER", &given->cwd,
                              "The folder whose sessions are meant; this one by default"},
                             JsonFlag(given->json)},
                 .run = Asks<&face::Clients::device>(given, RunHooks)},
            };
          }};
}

}  // namespace stet::cli
