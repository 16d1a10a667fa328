#include "cli/sandbox.h"

#include <fmt/format.h>

#include "base/text_width.h"

namespace stet::cli {

Result<int> RunSandbox(const SandboxCommand& command, client::Device& device,
                       face::Console& console) {
  protocol::SandboxRun run;
  if (!command.network.empty()) run.network = command.network;
  run.write = command.write;
  run.command = command.command;
  ASSIGN_OR_RETURN(const protocol::SandboxEnd end, device.RunSandboxed(run));
  for (const std::string& host : end.refused_hosts)
    console.Say(fmt::format("stet: the sandbox refused {}; [sandbox] hosts allows it",
                            PrintableText(host)));
  return static_cast<int>(end.exit_code);
}

}  // namespace stet::cli
