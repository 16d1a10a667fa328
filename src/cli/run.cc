#include "cli/run.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/exit_codes.h"
#include "cli/sessions.h"
#include "cli/terminal.h"

namespace stet::cli {

int Run(int argc, const char* const* argv, const SessionsFactory& make_sessions) {
  Terminal terminal = Terminal::Detect();
  const Command command = ParseArguments(argc, argv);
  if (const auto* answer = std::get_if<Answer>(&command)) {
    if (answer->exit_code == kExitDone)
      return terminal.Print(answer->text) ? kExitDone : kExitFailed;
    terminal.Say(answer->text.substr(0, answer->text.find_last_not_of('\n') + 1));
    return answer->exit_code;
  }
  const Result<std::unique_ptr<client::Sessions>> sessions = make_sessions();
  const Result<int> done =
      sessions ? RunSessions(std::get<SessionsCommand>(command), **sessions, terminal)
               : Result<int>(std::unexpected(sessions.error()));
  if (done) return *done;
  terminal.Say(fmt::format("stet: {}", done.error().Text()));
  return ExitCodeOf(done.error().code);
}

}  // namespace stet::cli
