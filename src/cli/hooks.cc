#include "cli/hooks.h"

#include <filesystem>

#include <fmt/format.h>

#include "client/await.h"
#include "face/exit_codes.h"
#include "face/hooks_view.h"

namespace stet::cli {

Result<int> RunHooks(const HooksCommand& command, client::Device& device, face::Console& console) {
  std::error_code error;
  const std::string here =
      std::filesystem::canonical(command.cwd.empty() ? "." : command.cwd, error);
  if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", command.cwd));
  ASSIGN_OR_RETURN(const protocol::HookRows rows,
                   client::Await(device, &client::Device::Hooks, here));
  const std::string out = command.json ? Encode(rows) + "\n" : face::HooksText(rows);
  return console.Print(out) ? face::kExitDone : face::kExitFailed;
}

}  // namespace stet::cli
