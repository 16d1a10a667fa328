#include "cli/run.h"

#include <span>

#include <fmt/format.h>

#include "cli/parser.h"
#include "cli/program.h"
#include "face/exit_codes.h"

namespace stet::cli {

int Run(int argc, const char* const* argv, const face::Clients& clients, const Faces& faces) {
  face::Console console = face::Console::Detect();
  const Verb program = ProgramFor(std::span(argv, static_cast<std::size_t>(argc)));
  const std::variant<const Verb*, Answer> parsed = ParseArguments(program, argc, argv);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    if (answer->exit_code == face::kExitDone)
      return console.Print(answer->text) ? face::kExitDone : face::kExitFailed;
    console.Say(answer->text.substr(0, answer->text.find_last_not_of('\n') + 1));
    return answer->exit_code;
  }
  const Result<int> done = std::get<const Verb*>(parsed)->run({clients, faces, console});
  if (done) return *done;
  console.Say(fmt::format("stet: {}", done.error().Text()));
  return face::ExitCodeOf(done.error());
}

}  // namespace stet::cli
