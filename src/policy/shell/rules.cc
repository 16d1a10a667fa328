#include "policy/shell/rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/unwrap.h"

namespace stet::policy {
namespace {

/// Which places in `pattern` can be reached by reading `text`: a step for every byte, so that its
/// time is their product at most.
std::vector<bool> Reached(std::string_view pattern, std::string_view text) {
  const auto pass_stars = [&](std::vector<bool>& at) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (at[i] && pattern[i] == '*') at[i + 1] = true;
    }
  };
  std::vector<bool> at(pattern.size() + 1);
  at[0] = true;
  pass_stars(at);
  for (const char c : text) {
    std::vector<bool> next(pattern.size() + 1);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (!at[i]) continue;
      if (pattern[i] == '*')
        next[i] = true;
      else if (pattern[i] == c)
        next[i + 1] = true;
    }
    pass_stars(next);
    at = std::move(next);
  }
  return at;
}

bool Matches(std::string_view pattern, std::string_view text) {
  return Reached(pattern, text).back();
}

/// Whether something that begins with `text` matches.
bool MayMatch(std::string_view pattern, std::string_view text) {
  const std::vector<bool> at = Reached(pattern, text);
  return std::ranges::find(at, true) != at.end();
}

/// The forms of a specifier that ends in ` *` or `:*`.
std::vector<std::string> Patterns(std::string_view specifier) {
  const std::string whole(specifier);
  if (specifier.ends_with(":*")) {
    const std::string stem = whole.substr(0, whole.size() - 2);
    return {stem, stem + " *", stem + ":*"};
  }
  if (specifier.ends_with(" *")) return {whole, whole.substr(0, whole.size() - 2)};
  return {whole};
}

struct Text {
  std::string known;  // Up to the first word that is not.
  bool complete = true;
};

/// A command as a rule sees it: its words with one blank between, the program by its plain name.
Text TextOf(const ShellCommand& command) {
  Text text;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (i > 0) text.known += ' ';
    const std::string name = i == 0 ? ProgramName(command) : "";
    text.known +=
        name.empty() ? word.text.substr(0, word.known() ? word.text.size() : word.fixed) : name;
    if (!word.known()) {
      text.complete = false;
      break;
    }
  }
  return text;
}

/// The same with every word, where those that are not known stand as they are written.
std::string WholeText(const ShellCommand& command) {
  std::string text;
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    if (i > 0) text += ' ';
    const std::string name = i == 0 ? ProgramName(command) : "";
    text += name.empty() ? command.words[i].text : name;
  }
  return text;
}

bool IsHarmlessBuiltin(const ShellCommand& command, const ShellPlace& place) {
  if (command.effect != ShellEffect::kReadOnly) return false;
  if (command.words.empty()) return true;
  const std::string program = ProgramName(command);
  if (program == "cd" || program == "pushd")
    return command.words.size() > 1 &&
           std::ranges::all_of(command.reads, [&](const ShellPath& path) {
             return path.reach == ShellPath::Reach::kExact && IsInside(path.path, place.cwd);
           });
  return HasWord("true false : echo printf pwd exit return set wait test [ export", program);
}

bool WritesByRedirection(const ShellCommand& command) {
  return std::ranges::any_of(command.redirects, [](const ShellRedirect& redirect) {
    const bool writes = redirect.kind == ShellRedirect::Kind::kOverwrite ||
                        redirect.kind == ShellRedirect::Kind::kAppend;
    return writes && !(redirect.target.known() && IsSink(redirect.target.text));
  });
}

/// A variable that changes what a program does is not in the rule.
bool SetsMore(const ShellCommand& command) {
  ShellCommand alone;
  alone.assignments = command.assignments;
  if (!command.words.empty()) alone.words = {{"true", ShellWord::Kind::kKnown, 4, false}};
  JudgeCommand(alone, {});
  return alone.effect != ShellEffect::kReadOnly;
}

bool CoversOne(const std::vector<std::string>& patterns, const ShellAnalysis& analysis,
               const ShellCommand& command) {
  if (command.odd || command.git_elsewhere || WritesByRedirection(command) || SetsMore(command))
    return false;
  if (IsHarmlessBuiltin(command, analysis.place)) return true;
  // Who allows a reader means it to read, not `find -delete`.
  constexpr std::string_view kReaders =
      "find gfind fd fdfind sort tree uniq xxd xmllint iconv rg awk gawk";
  if (command.effect != ShellEffect::kReadOnly && HasWord(kReaders, ProgramName(command)))
    return false;
  const std::string text = WholeText(command);
  const auto fits = [&](const std::string& pattern) { return Matches(pattern, text); };
  const bool all_known = std::ranges::all_of(command.words, &ShellWord::known);
  // What is not known only fits a star at the end, and no option may come in with it.
  const auto open = [&](const std::string& pattern) {
    return pattern.ends_with('*') && fits(pattern);
  };
  const bool safe = std::ranges::none_of(command.words, &ShellWord::maybe_option);
  if (all_known ? std::ranges::any_of(patterns, fits) : safe && std::ranges::any_of(patterns, open))
    return true;
  const std::string program = ProgramName(command);
  if (command.wraps) return IsTransparent(program) && !command.privileged;
  return false;
}

bool IsNamed(const std::vector<std::string>& patterns, const ShellCommand& command) {
  return command.wraps && !IsTransparent(ProgramName(command)) && !command.odd &&
         std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return !pattern.starts_with('*') && Matches(pattern, WholeText(command));
         });
}

}  // namespace

bool ShellCovers(std::string_view specifier, const ShellAnalysis& analysis) {
  if (specifier == analysis.line) return true;
  if (!analysis.understood || analysis.commands.empty()) return false;
  const std::vector<std::string> patterns = Patterns(specifier);
  return std::ranges::all_of(analysis.commands, [&](const ShellCommand& command) {
    // What a wrapper starts is covered when the rule names the wrapper itself, as `npx *` does.
    for (int at = command.wrapper; at >= 0;
         at = analysis.commands[static_cast<std::size_t>(at)].wrapper) {
      if (IsNamed(patterns, analysis.commands[static_cast<std::size_t>(at)]) && !command.odd)
        return true;
    }
    return CoversOne(patterns, analysis, command);
  });
}

bool ShellTouches(std::string_view specifier, const ShellAnalysis& analysis) {
  if (!analysis.understood || specifier == analysis.line) return true;
  const std::vector<std::string> patterns = Patterns(specifier);
  return std::ranges::any_of(analysis.commands, [&](const ShellCommand& command) {
    if (command.words.empty()) return false;
    const Text text = TextOf(command);
    std::string base = text.known;
    base.erase(0, base.rfind('/', base.find(' ')) + 1);
    return std::ranges::any_of(patterns, [&](const std::string& pattern) {
      if (text.complete) return Matches(pattern, text.known) || Matches(pattern, base);
      return MayMatch(pattern, text.known) || MayMatch(pattern, base);
    });
  });
}

}  // namespace stet::policy
