// `stet completion`: a script that completes stet's command line in a shell.
#include "cli/completion.h"

#include <algorithm>

#include "cli/program.h"
#include "cli/verb.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

/// "-y,--yes": none of what is known by its place.
std::vector<std::string> NamesIn(std::string_view names) {
  std::vector<std::string> found;
  while (names.starts_with('-')) {
    const std::size_t end = std::min(names.find(','), names.size());
    found.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return found;
}

CommandFacts FactsOf(const Verb& verb) {
  CommandFacts facts{.name = verb.name, .description = verb.help};
  facts.options.push_back(
      {.names = {"-h", "--help"}, .description = "Print this help message and exit"});
  for (const Option& option : verb.options) {
    if (option.hidden) continue;
    const auto* choices = std::get_if<OneOf>(&option.check);
    facts.options.push_back({.names = NamesIn(option.names),
                             .description = option.help,
                             .takes_value = !std::holds_alternative<bool*>(option.target),
                             .choices = choices != nullptr ? *choices : OneOf()});
  }
  for (const Verb& below : verb.verbs) facts.commands.push_back(FactsOf(below));
  return facts;
}

CommandFacts ProgramFacts() {
  CommandFacts facts = FactsOf(WholeProgram());
  facts.options.insert(
      facts.options.begin() + 1,
      {.names = {"--version"}, .description = "Display program version information and exit"});
  return facts;
}

}  // namespace

VerbEntry CompletionVerb() {
  return {"completion", "Print a script that completes stet's command line in a shell",
          [](Verb& completion) {
            const auto shell = std::make_shared<std::string>();
            completion.options = {{.names = "SHELL",
                                   .target = shell.get(),
                                   .help = "bash, zsh or fish",
                                   .required = true,
                                   .check = OneOf{"bash", "zsh", "fish"}}};
            completion.run = [shell](const VerbEnvironment& with) -> Result<int> {
              const std::string script = CompletionScript(*shell, ProgramFacts());
              return with.console.Print(script) ? face::kExitDone : face::kExitFailed;
            };
          }};
}

}  // namespace stet::cli
