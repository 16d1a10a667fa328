#include "policy/shell/rules.h"

#include <algorithm>
#include <span>
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

/// What stands before the first star: most rules are about other commands.
std::string_view Fixed(std::string_view pattern) { return pattern.substr(0, pattern.find('*')); }

bool Matches(std::string_view pattern, std::string_view text) {
  if (!text.starts_with(Fixed(pattern))) return false;
  return Reached(pattern, text).back();
}

/// Whether something that begins with `text` matches.
bool MayMatch(std::string_view pattern, std::string_view text) {
  const std::string_view fixed = Fixed(pattern);
  if (!text.starts_with(fixed) && !fixed.starts_with(text)) return false;
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
  return HasWord("true false : echo printf pwd exit return set wait test [ export read", program);
}

/// A variable that may change what a program does is not in the rule.
bool SetsMore(const ShellCommand& command) {
  return !std::ranges::all_of(command.assignments, [&](const ShellAssignment& assignment) {
    const bool divides = assignment.name == "IFS" && ProgramName(command) == "read";
    return divides || IsPlainAssignment(assignment);
  });
}

/// Who allows what looks means it to look, not `find -delete` and `git log --output=file`.
bool DoesMore(const ShellCommand& command, const ShellPlace& place) {
  if (command.effect == ShellEffect::kReadOnly) return false;
  constexpr std::string_view kLookers =
      "find gfind fd fdfind sort tree uniq xxd xmllint iconv rg ag awk gawk mawk nawk cat head "
      "tail "
      "grep egrep fgrep ls wc du stat file diff diff3 nm objdump ss journalctl date hostname bat "
      "jq";
  if (HasWord(kLookers, ProgramName(command))) return true;
  if (!command.is_git) return false;
  // git without its options: does that look?
  ShellCommand plain;
  plain.folders = command.folders;
  for (const ShellWord& word : command.words) {
    if (!word.text.starts_with('-')) plain.words.push_back(word);
  }
  JudgeCommand(plain, place);
  return plain.effect == ShellEffect::kReadOnly;
}

/// `echo x >/dev/tcp/host/port`: no rule about the command speaks of that.
bool OpensConnection(const ShellCommand& command) {
  return std::ranges::any_of(command.redirects, [](const ShellRedirect& redirect) {
    const std::string& target = redirect.target.text;
    return target.starts_with("/dev/tcp") || target.starts_with("/dev/udp");
  });
}

/// A star stands for no folder that the program is in: `tail*` does not mean `tail/x`.
bool LeadsElsewhere(std::string_view pattern, std::string_view text) {
  const std::string_view program = text.substr(0, text.find(' '));
  const std::size_t slash = program.rfind('/');
  return slash != std::string_view::npos &&
         !Fixed(pattern).starts_with(program.substr(0, slash + 1));
}

bool CoversOne(const std::vector<std::string>& patterns, const ShellAnalysis& analysis,
               const ShellCommand& command) {
  if (OpensConnection(command)) return false;
  if (command.odd || command.heavy || command.git_elsewhere || SetsMore(command)) return false;
  if (IsHarmlessBuiltin(command, analysis.place)) return true;
  const std::string text = WholeText(command);
  const auto fits = [&](const std::string& pattern) {
    return Matches(pattern, text) && !LeadsElsewhere(pattern, text);
  };
  const bool exact = std::ranges::find(patterns, text) != patterns.end();
  if (!exact && DoesMore(command, analysis.place)) return false;
  const bool all_known = std::ranges::all_of(command.words, &ShellWord::known);
  // What is not known only fits a star at the end, and no option may come in with it.
  const auto open = [&](const std::string& pattern) {
    return pattern.ends_with('*') && fits(pattern);
  };
  const bool safe = std::ranges::none_of(command.words, &ShellWord::maybe_option);
  if (all_known ? std::ranges::any_of(patterns, fits) : safe && std::ranges::any_of(patterns, open))
    return true;
  if (command.wraps) return IsTransparent(ProgramName(command)) && !command.privileged;
  return false;
}

bool IsNamed(const std::vector<std::string>& patterns, const ShellCommand& command) {
  return command.wraps && !IsTransparent(ProgramName(command)) && !command.odd &&
         std::ranges::any_of(patterns, [&](const std::string& pattern) {
           return !pattern.starts_with('*') && Matches(pattern, WholeText(command));
         });
}

bool CoversPart(const std::vector<std::string>& patterns, const ShellAnalysis& analysis,
                const ShellCommand& command) {
  // What a wrapper starts is covered when the rule names the wrapper itself, as `npx *` does.
  for (int at = command.wrapper; at >= 0;
       at = analysis.commands[static_cast<std::size_t>(at)].wrapper) {
    if (IsNamed(patterns, analysis.commands[static_cast<std::size_t>(at)]) && !command.odd)
      return true;
  }
  return CoversOne(patterns, analysis, command);
}

bool IsNameByte(char c) {
  return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/// Whether the pattern matches what begins somewhere in the text where a word may begin.
bool StandsIn(const std::string& pattern, std::string_view text) {
  const bool open = pattern.ends_with('*');
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!IsNameByte(text[at]) || (at > 0 && IsNameByte(text[at - 1]))) continue;
    const std::string_view rest = text.substr(at);
    if (open ? Matches(pattern, rest) : Matches(pattern + "*", rest)) {
      const bool whole = open || rest.size() == pattern.size() ||
                         (rest.size() > pattern.size() && !IsNameByte(rest[pattern.size()]));
      if (whole) return true;
    }
  }
  return false;
}

std::string_view Bare(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

/// Text that a command is given beside its words, where it may run that.
std::string GivenText(const ShellCommand& command) {
  std::string given;
  if (command.effect == ShellEffect::kReadOnly) return given;
  for (const ShellAssignment& assignment : command.assignments)
    given += assignment.value.text + "\n";
  for (const ShellRedirect& redirect : command.redirects) {
    if (command.foreign && redirect.kind == ShellRedirect::Kind::kText)
      given += redirect.target.text;
  }
  return given;
}

bool IsOptionText(std::string_view word) {
  return word.size() > 1 && (word.front() == '-' || word.front() == '+');
}

/// The words behind the program that are no options. One in front of the first of them may take the
/// word behind it as its value: every reading of that.
std::vector<std::vector<std::string>> OperandReadings(const ShellCommand& command) {
  std::vector<bool> begins(command.words.size() + 2);
  if (!command.words.empty()) begins[1] = true;
  std::vector<std::vector<std::string>> readings;
  for (std::size_t at = 1; at < command.words.size(); ++at) {
    if (!begins[at]) continue;
    if (IsOptionText(command.words[at].text)) {
      begins[at + 1] = true;
      begins[at + 2] = true;
      continue;
    }
    std::vector<std::string>& operands = readings.emplace_back();
    for (std::size_t i = at; i < command.words.size(); ++i) {
      if (!IsOptionText(command.words[i].text)) operands.push_back(command.words[i].text);
    }
  }
  return readings;
}

/// Whether the pattern speaks of this command wherever its options stand: `git -C x push`,
/// `npm --silent publish`, `git push origin --force`.
bool MatchesInAnyOrder(std::string_view pattern, const ShellCommand& command,
                       std::string_view program) {
  std::vector<std::string_view> operands;
  std::vector<std::string_view> options;
  std::size_t begin = pattern.find(' ');
  if (begin == std::string_view::npos || pattern.substr(0, begin) != program) return false;
  while (begin < pattern.size()) {
    const std::size_t end = std::min(pattern.find(' ', begin + 1), pattern.size());
    const std::string_view word = pattern.substr(begin + 1, end - begin - 1);
    if (!word.empty() && word != "*") (IsOptionText(word) ? options : operands).push_back(word);
    begin = end;
  }
  const bool given = std::ranges::all_of(options, [&](std::string_view option) {
    return std::ranges::any_of(command.words,
                               [&](const ShellWord& word) { return Matches(option, word.text); });
  });
  if (!given || (operands.empty() && options.empty())) return false;
  if (operands.empty()) return true;
  return std::ranges::any_of(OperandReadings(command), [&](const std::vector<std::string>& are) {
    return are.size() >= operands.size() &&
           std::ranges::equal(
               operands, std::span(are).first(operands.size()),
               [](std::string_view wanted, const std::string& is) { return Matches(wanted, is); });
  });
}

/// By its program, and those of its words that are known.
bool NamesCommand(const std::vector<std::string>& patterns, const ShellCommand& command) {
  if (command.words.empty() || !command.words[0].known()) return false;
  const Text text = TextOf(command);
  std::string base = text.known;
  base.erase(0, base.rfind('/', base.find(' ')) + 1);
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    const auto fits = [&](std::string_view known) {
      return text.complete ? Matches(pattern, known) : MayMatch(pattern, known);
    };
    return fits(text.known) || fits(base) ||
           MatchesInAnyOrder(pattern, command, ProgramName(command));
  });
}

bool CouldApply(const std::vector<std::string>& patterns, const ShellCommand& command,
                std::string_view line) {
  if (command.odd) return true;
  const bool written = command.unclear && std::ranges::any_of(patterns, [&](const auto& pattern) {
                         return StandsIn(pattern, line);
                       });
  if (written) return true;
  if (command.words.empty()) return false;
  const Text text = TextOf(command);
  std::string base = text.known;
  base.erase(0, base.rfind('/', base.find(' ')) + 1);
  // What it reads it may run, and that is not in the line.
  const bool fed = command.fed_to > command.fed_from;
  if (fed &&
      HasWord("at batch crontab ed ex dc gdb expect ssh psql mysql sqlite3", ProgramName(command)))
    return true;
  const std::string whole = command.foreign ? WholeText(command) : "";
  const std::size_t behind = std::min(whole.find(' '), whole.size());
  const std::string given = GivenText(command);
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    if (text.complete && (Matches(pattern, text.known) || Matches(pattern, base))) return true;
    if (!text.complete && (MayMatch(pattern, text.known) || MayMatch(pattern, base))) return true;
    if (MatchesInAnyOrder(pattern, command, ProgramName(command))) return true;
    // What is not known may be nothing at all.
    if (text.known.ends_with(' ') && Matches(pattern, Bare(text.known))) return true;
    if (base.ends_with(' ') && Matches(pattern, Bare(base))) return true;
    return StandsIn(pattern, std::string_view(whole).substr(behind)) || StandsIn(pattern, given);
  });
}

}  // namespace

bool WritesByRedirection(const ShellCommand& command) {
  return std::ranges::any_of(command.redirects, [](const ShellRedirect& redirect) {
    const bool writes = redirect.kind == ShellRedirect::Kind::kOverwrite ||
                        redirect.kind == ShellRedirect::Kind::kAppend;
    return writes && !(redirect.target.known() && IsSink(redirect.target.text));
  });
}

std::string TextOfPart(const ShellCommand& command) {
  constexpr std::size_t kMost = 80;
  std::string text = WholeText(command);
  for (const ShellAssignment& assignment : command.assignments) {
    if (text.empty()) text = assignment.name + "=";
  }
  if (text.empty() && !command.redirects.empty()) text = "> " + command.redirects[0].target.text;
  if (text.size() > kMost) text = text.substr(0, text.find_last_of(' ', kMost)) + " ...";
  return text;
}

bool NeedsNoRule(const ShellAnalysis& analysis, std::size_t part) {
  const ShellCommand& command = analysis.commands[part];
  return !command.odd && !command.git_elsewhere && !SetsMore(command) &&
         IsHarmlessBuiltin(command, analysis.place);
}

bool ShellCoversPart(std::string_view specifier, const ShellAnalysis& analysis, std::size_t part) {
  return analysis.understood && CoversPart(Patterns(specifier), analysis, analysis.commands[part]);
}

bool ShellCovers(std::string_view specifier, const ShellAnalysis& analysis) {
  if (specifier == analysis.line) return true;
  if (!analysis.understood || analysis.commands.empty()) return false;
  const std::vector<std::string> patterns = Patterns(specifier);
  return std::ranges::all_of(analysis.commands, [&](const ShellCommand& command) {
    return !WritesByRedirection(command) && CoversPart(patterns, analysis, command);
  });
}

bool ShellNames(std::string_view specifier, const ShellAnalysis& analysis) {
  const std::vector<std::string> patterns = Patterns(specifier);
  return std::ranges::any_of(analysis.commands, [&](const ShellCommand& command) {
    return NamesCommand(patterns, command);
  });
}

bool ShellTouches(std::string_view specifier, const ShellAnalysis& analysis) {
  if (!analysis.understood || specifier == analysis.line) return true;
  const std::vector<std::string> patterns = Patterns(specifier);
  return std::ranges::any_of(analysis.commands, [&](const ShellCommand& command) {
    return CouldApply(patterns, command, analysis.line);
  });
}

}  // namespace stet::policy
