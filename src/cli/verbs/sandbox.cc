// `stet sandbox`: runs a command as those of models are run, in their sandbox.
#include <fmt/format.h>

#include "base/display_width.h"
#include "cli/verb.h"

namespace stet::cli {
namespace {

struct SandboxArguments {
  std::string box = "auto";
  std::string network;  // Empty: the configuration's.
  std::vector<std::string> write;
  std::vector<std::string> command;  // Empty: it was not asked for.
};

Result<int> RunSandbox(const SandboxArguments& command, client::Device& device,
                       face::Console& console) {
  protocol::SandboxRun run;
  run.box = command.box;
  if (!command.network.empty()) run.network = command.network;
  run.write = command.write;
  run.command = command.command;
  ASSIGN_OR_RETURN(const protocol::SandboxEnd end, device.RunSandboxed(run));
  for (const std::string& host : end.refused_hosts)
    console.Say(fmt::format("stet: the sandbox refused {}; [sandbox] hosts allows it",
                            PrintableText(host)));
  return static_cast<int>(end.exit_code);
}

}  // namespace

VerbEntry SandboxVerb() {
  return {"sandbox", "Run a command as stet runs those of models in a sandbox, in this folder",
          [](Verb& sandbox) {
            const auto given = std::make_shared<SandboxArguments>();
            sandbox.options = {
                {.names = "--box",
                 .target = &given->box,
                 .help = "As a command is kept in that runs unasked: auto, edits, or reads",
                 .check = OneOf{"auto", "edits", "reads"}},
                {.names = "--network",
                 .target = &given->network,
                 .help = "off, loopback, hosts or open",
                 .check = OneOf{"off", "loopback", "hosts", "open"}},
                {.names = "--write",
                 .target = &given->write,
                 .help = "Another folder that it may write",
                 .values = Values::kOneByOne},
                {.names = "COMMAND",
                 .target = &given->command,
                 .help = "The command, behind --",
                 .required = true},
            };
            sandbox.positionals_last = true;
            sandbox.run = Asks<&face::Clients::device>(given, RunSandbox);
          }};
}

}  // namespace stet::cli
