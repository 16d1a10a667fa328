#include "tool/git/notes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/display_width.h"
#include "tool/git/programs.h"
#include "tool/paths.h"

namespace stet::tool {
namespace {

struct HookOf {
  std::string_view verb;
  std::string_view hook;
};
constexpr std::array kHooks = {
    HookOf{"commit", "pre-commit"},    HookOf{"commit", "commit-msg"},
    HookOf{"commit", "post-commit"},   HookOf{"commit", "prepare-commit-msg"},
    HookOf{"push", "pre-push"},        HookOf{"rebase", "pre-rebase"},
    HookOf{"merge", "post-merge"},     HookOf{"merge", "pre-merge-commit"},
    HookOf{"pull", "post-merge"},      HookOf{"checkout", "post-checkout"},
    HookOf{"switch", "post-checkout"}, HookOf{"am", "applypatch-msg"}};

/// The first hook that git would have run for the command, had they not been off.
std::string HookThatIsOff(const std::string& command, const std::vector<std::string>& variables,
                          const std::string& cwd) {
  const bool off = std::ranges::any_of(
      variables, [](const std::string& one) { return one.ends_with("=core.hooksPath"); });
  if (!off) return "";
  for (const GitProgram& program : FindGitPrograms(cwd).hooks) {
    const bool meant = std::ranges::any_of(kHooks, [&](const HookOf& one) {
      return program.what.ends_with(one.hook) && command.contains(one.verb);
    });
    if (meant) return PrintableText(program.what);
  }
  return "";
}

}  // namespace

std::string GitNotes(const std::string& command, const std::vector<std::string>& variables,
                     const Call& call) {
  std::string notes;
  if (!command.contains("git")) return notes;
  const std::string& project = call.workspace.project;
  const bool hides = call.sandbox != nullptr &&
                     std::ranges::any_of(call.sandbox->profile.hidden,
                                         [&](const auto& path) { return IsInside(path, project); });
  if (hides)
    notes +=
        "(What is excluded of the project is hidden from commands: git shows it as deleted or "
        "changed here. It is not.)\n";
  if (const std::string hook = HookThatIsOff(command, variables, call.workspace.cwd); !hook.empty())
    notes += fmt::format(
        "(The repository's {} was not run: its hooks are off until the user says `stet trust "
        "git`.)\n",
        hook);
  return notes;
}

}  // namespace stet::tool
