#include "policy/shell/grant.h"

#include <algorithm>
#include <array>
#include <vector>

#include "policy/shell/option.h"
#include "policy/shell/rules.h"

namespace stet::policy {
namespace {

/// Programs that build, test, check and look, with the words that say which of that they do. What
/// sends, deletes, installs by name or runs what is named is not here.
struct PrefixRow {
  std::string_view programs;
  std::string_view first;   // One of these follows; empty: nothing must.
  std::string_view second;  // And one of these; "*": any one word, the name of a script.
};

constexpr std::array kPrefixes = {
    PrefixRow{"npm pnpm yarn bun", "run run-script", "*"},
    PrefixRow{"npm pnpm yarn bun", "test t ci ls outdated", ""},
    PrefixRow{"npx", "tsc eslint jest vitest prettier mocha tsx playwright biome", ""},
    PrefixRow{"deno", "test lint fmt check", ""},
    PrefixRow{"cargo", "build check test clippy fmt bench doc tree metadata nextest", ""},
    PrefixRow{"go", "build test vet list", ""},
    PrefixRow{"make gmake just task", "*", ""},
    PrefixRow{"cmake", "--build", ""},
    PrefixRow{"ninja ctest meson", "", ""},
    PrefixRow{"pytest mypy ruff flake8 pylint black isort tox nox", "", ""},
    PrefixRow{"python python3", "-m", "pytest unittest mypy ruff black flake8 pylint"},
    PrefixRow{"uv poetry pdm pipenv", "run", "pytest mypy ruff black flake8 pylint tox"},
    PrefixRow{"pip pip3", "list show freeze check", ""},
    PrefixRow{"tsc eslint jest vitest mocha prettier biome stylelint", "", ""},
    PrefixRow{"mvn gradle ./gradlew ./mvnw", "test build compile check verify", ""},
    PrefixRow{"dotnet swift mix zig sbt rake composer", "test build", ""},
    PrefixRow{"bundle", "exec", "rspec rubocop rake"},
    PrefixRow{"rspec rubocop phpunit phpstan", "", ""},
    PrefixRow{"git", "add commit fetch switch", ""},
    PrefixRow{"docker", "build ps images logs inspect", ""},
    PrefixRow{"docker", "compose", "build ps logs"},
    PrefixRow{"gh", "pr issue run release workflow", "view list status diff checks"},
    PrefixRow{"kubectl", "get describe logs", ""},
    PrefixRow{"terraform tofu", "plan validate fmt", ""},
};

bool IsScriptName(std::string_view word) {
  return !word.empty() && !word.starts_with('-') &&
         word.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
             "_-.:/") == std::string_view::npos &&
         !word.ends_with(':');
}

bool Fits(std::string_view wanted, std::string_view word) {
  return wanted == "*" ? IsScriptName(word) : HasWord(wanted, word);
}

/// How many of the words are the prefix; 0: none is.
std::size_t PrefixLength(const std::vector<std::string>& words) {
  for (const PrefixRow& row : kPrefixes) {
    if (words.empty() || !HasWord(row.programs, words[0])) continue;
    if (row.first.empty()) return 1;
    if (words.size() < 2 || !Fits(row.first, words[1])) continue;
    if (row.second.empty()) return 2;
    if (words.size() > 2 && Fits(row.second, words[2])) return 3;
  }
  return 0;
}

std::string Joined(const std::vector<std::string>& words, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? " " : "") + words[i];
  return text;
}

bool IsPlain(const ShellCommand& command) {
  return !command.odd && !command.heavy && !command.privileged && !command.defines &&
         !command.git_elsewhere && !command.sets_git && command.git_runs.empty() &&
         command.loses.empty() && command.assignments.empty() && command.redirects.empty() &&
         command.effect != ShellEffect::kDestroys && command.effect != ShellEffect::kProcess;
}

}  // namespace

std::string GrantPrefix(const ShellAnalysis& analysis) {
  if (!analysis.understood || analysis.commands.empty()) return "";
  const ShellCommand& command = analysis.commands[0];
  // `python3 -m pytest` starts the second one itself.
  const bool one = std::ranges::all_of(analysis.commands, [&](const ShellCommand& each) {
    return IsPlain(each) && (&each == &command || each.wrapper == 0);
  });
  if (!one) return "";
  std::vector<std::string> words;
  for (const ShellWord& word : command.words) {
    if (!word.known()) break;
    words.push_back(word.text);
  }
  const std::size_t length = PrefixLength(words);
  if (length == 0) return "";
  std::string prefix = Joined(words, length);
  return ShellCovers(prefix + ":*", analysis) ? prefix : "";
}

bool IsGrantPrefix(std::string_view prefix) {
  std::vector<std::string> words;
  while (!prefix.empty()) {
    const std::size_t end = std::min(prefix.find(' '), prefix.size());
    words.emplace_back(prefix.substr(0, end));
    prefix.remove_prefix(std::min(end + 1, prefix.size()));
  }
  return !words.empty() && PrefixLength(words) == words.size();
}

}  // namespace stet::policy
