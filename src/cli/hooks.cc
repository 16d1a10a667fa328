#include "cli/hooks.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/text_width.h"
#include "cli/exit_codes.h"
#include "client/await.h"

namespace stet::cli {

std::string HooksText(const protocol::HookRows& rows) {
  if (rows.empty()) return "no hooks are configured\n";
  std::string text;
  for (const protocol::HookRow& row : rows) {
    const std::string line =
        fmt::format("{:<18} {:<12} {:<8} {}  # {}{}", row.event,
                    row.matcher.empty() ? "*" : row.matcher, row.type, OneLineText(row.what),
                    row.source, row.active ? "" : " (off: the project is not trusted)");
    text += PrintableText(line) + "\n";
  }
  return text;
}

Result<int> RunHooks(const HooksCommand& command, client::Device& device, Terminal& terminal) {
  std::error_code error;
  const std::string here =
      std::filesystem::canonical(command.cwd.empty() ? "." : command.cwd, error);
  if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", command.cwd));
  ASSIGN_OR_RETURN(const protocol::HookRows rows,
                   client::Await(device, &client::Device::Hooks, here));
  const std::string out = command.json ? Encode(rows) + "\n" : HooksText(rows);
  return terminal.Print(out) ? kExitDone : kExitFailed;
}

}  // namespace stet::cli
