#include "policy/shell/judge.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/program.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

/// Variables that a program may be given without changing what it is: none of them names a program,
/// a path, a module or options. The last are the names of loops.
constexpr std::string_view kPlainVariables =
    "CI DEBUG VERBOSE LANG LANGUAGE TZ COLUMNS LINES TERM NO_COLOR FORCE_COLOR CLICOLOR "
    "CLICOLOR_FORCE NODE_ENV RUST_LOG RUST_BACKTRACE CARGO_TERM_COLOR PYTHONUNBUFFERED "
    "PYTHONDONTWRITEBYTECODE PYTHONHASHSEED GOOS GOARCH CGO_ENABLED RAILS_ENV RACK_ENV APP_ENV "
    "ENVIRONMENT FLASK_ENV PORT HOST LOG_LEVEL LOGLEVEL GTEST_COLOR GTEST_FILTER JOBS "
    "NPM_CONFIG_LOGLEVEL UPDATE_SNAPSHOTS OMP_NUM_THREADS CUDA_VISIBLE_DEVICES DOCKER_BUILDKIT "
    "COMPOSE_PROJECT_NAME NEXT_TELEMETRY_DISABLED TURBO_FORCE "
    "i j k n x y f d s line file dir name count rc status";

/// With one of these a program runs something else than it seems to.
constexpr std::string_view kOddVariables =
    "IFS PATH BASH_ENV ENV SHELLOPTS BASHOPTS PS0 PS1 PS2 PS4 PROMPT_COMMAND GLOBIGNORE CDPATH "
    "HOME "
    "PERL5OPT PERL5LIB RUBYOPT RUBYLIB PYTHONSTARTUP PYTHONHOME PYTHONWARNINGS PYTHONBREAKPOINT "
    "TAR_OPTIONS "
    "JAVA_TOOL_OPTIONS _JAVA_OPTIONS GCONV_PATH LOCPATH NLSPATH TERMINFO TERMCAP LESSOPEN "
    "LESSCLOSE "
    "LESS LESSEDIT MANOPT RIPGREP_CONFIG_PATH FPATH SHELL BASH_FUNC BASH_XTRACEFD RUSTC_WRAPPER "
    "EXECIGNORE HISTFILE INPUTRC KSH_VERSION MAIL MAILPATH OPENSSL_CONF SSH_ASKPASS "
    "RSYNC_RSH CVS_RSH";

/// A folder of the project, the user or the system before those that are there.
bool ExtendsPath(const ShellWord& value, const ShellPlace& place) {
  if (!value.text.ends_with("$PATH") || value.fixed + 5 != value.text.size()) return false;
  std::string_view folders = std::string_view(value.text).substr(0, value.fixed);
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    const std::string path = AbsolutePath(place.cwd, folder);
    if (!IsInside(path, place.cwd) && !IsInside(path, place.home) && !IsInside(path, "/usr") &&
        !IsInside(path, "/opt"))
      return false;
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
  }
  return true;
}

/// `PAGER=cat`, an editor that does nothing: written to keep things plain.
bool IsPlainValue(const ShellAssignment& assignment, const ShellPlace& place) {
  const std::string_view name = assignment.name;
  if (name == "PATH") return ExtendsPath(assignment.value, place);
  const bool shows = name.contains("PAGER") || name.contains("EDITOR");
  const std::string& value = assignment.value.text;
  return shows && assignment.value.known() && (value.empty() || HasWord("cat true :", value));
}

/// Whether what is set reaches the programs that are started.
bool IsExported(const ShellCommand& command) {
  if (command.words.empty()) return false;
  const std::string program = ProgramName(command);
  if (HasWord("read mapfile readarray getopts wait printf let unset", program)) return false;
  if (!HasWord("declare typeset readonly local", program)) return true;
  return std::ranges::any_of(command.words, [](const ShellWord& word) {
    return !word.known() || (word.text.starts_with('-') && word.text.contains('x'));
  });
}

/// The shell evaluates what these are set to.
constexpr std::string_view kNumbers =
    "RANDOM SRANDOM SECONDS OPTIND OPTERR LINENO HISTCMD HISTSIZE EPOCHSECONDS BASHPID MAILCHECK "
    "FUNCNEST TMOUT UID EUID PPID COLUMNS LINES";

void JudgeAssignments(ShellCommand& command, const ShellPlace& place) {
  const bool exported = IsExported(command);
  for (const ShellAssignment& assignment : command.assignments) {
    const std::string& value = assignment.value.text;
    const bool number =
        assignment.value.known() && value.find_first_not_of("0123456789") == std::string::npos;
    if (HasWord(kNumbers, assignment.name) && !number)
      Raise(command, ShellEffect::kUnknown, fmt::format("{} is evaluated", assignment.name));
    // `while IFS= read -r line`: for this one builtin.
    if (assignment.name == "IFS" && ProgramName(command) == "read" && assignment.value.known())
      continue;
    if (IsOddVariable(assignment.name)) {
      command.odd = command.odd || !IsPlainValue(assignment, place);
      Raise(command, ShellEffect::kUnknown, fmt::format("it sets {}", assignment.name));
    } else if (exported && !IsPlainAssignment(assignment)) {
      Raise(command, ShellEffect::kUnknown,
            fmt::format("it sets {} for a program", assignment.name));
    }
  }
}

void JudgeRedirects(ShellCommand& command) {
  for (const ShellRedirect& redirect : command.redirects) {
    const std::string& target = redirect.target.text;
    if (redirect.kind == ShellRedirect::Kind::kDuplicate ||
        redirect.kind == ShellRedirect::Kind::kText)
      continue;
    if (target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/")) {
      Raise(command, ShellEffect::kNetwork, "it opens a connection");
      continue;
    }
    if (redirect.kind == ShellRedirect::Kind::kRead) {
      AddPaths(command.reads, redirect.target, command);
      continue;
    }
    if (redirect.target.known() && IsSink(target)) continue;
    const bool appends = redirect.kind == ShellRedirect::Kind::kAppend;
    AddPaths(appends ? command.writes : command.loses, redirect.target, command);
    Raise(command, appends ? ShellEffect::kWrites : ShellEffect::kDestroys,
          fmt::format("its output {} {}", appends ? "is added to" : "overwrites", target));
  }
}

void ApplyOption(ShellCommand& command, const Option& option, std::string_view program) {
  const std::string why = fmt::format("{} with {}", program, option.name);
  switch (option.meaning) {
    case Meaning::kReads:
    case Meaning::kPatternFile: AddPaths(command.reads, option.value, command); break;
    case Meaning::kUnlisted:
      // Of what does more the options that matter are listed; of what reads or writes files, all.
      if (command.effect <= ShellEffect::kWrites && !HasWord("--help --version", option.name))
        Raise(command, ShellEffect::kUnknown,
              fmt::format("the option {} of {} is not known", option.name, program));
      break;
    case Meaning::kOverwrites:
      AddPaths(command.loses, option.value, command);
      Raise(command, ShellEffect::kDestroys, why + " overwrites a file");
      break;
    case Meaning::kFolder:
      AddPaths(command.writes, option.value, command, ShellPath::Reach::kTree);
      break;
    case Meaning::kRuns:
    case Meaning::kRunsSome:
      command.odd = true;
      Raise(command, ShellEffect::kUnknown, why + " runs other programs");
      break;
    case Meaning::kUnclear:
    case Meaning::kUnclearValue:
      Raise(command, ShellEffect::kUnknown, why + " is not known");
      break;
    case Meaning::kDestroys:
      command.loses.push_back({"", ShellPath::Reach::kAnywhere});
      Raise(command, ShellEffect::kDestroys, why + " deletes");
      break;
    case Meaning::kSends:
    case Meaning::kSendsValue: Raise(command, ShellEffect::kNetwork, why + " sends"); break;
    default: break;
  }
}

bool Has(const ParsedWords& parsed, Meaning meaning) {
  return std::ranges::any_of(parsed.options,
                             [&](const Option& option) { return option.meaning == meaning; });
}

void AddTarget(ShellCommand& command, const ParsedWords& parsed, ShellPath::Reach reach) {
  const bool named = Has(parsed, Meaning::kOverwrites);
  for (std::size_t i = 0; i < parsed.operands.size(); ++i) {
    const bool last = i + 1 == parsed.operands.size() && !named;
    AddPaths(last ? command.loses : command.reads, parsed.operands[i], command, reach);
  }
  Raise(command, ShellEffect::kDestroys, "it may overwrite what is there");
}

void AddOperands(ShellCommand& command, const ProgramRow& row, const ParsedWords& parsed) {
  const bool linked = Has(parsed, Meaning::kLinks);
  const bool tree = row.operands == Operands::kTree || Has(parsed, Meaning::kTree) || linked;
  const ShellPath::Reach reach = tree ? ShellPath::Reach::kTree : ShellPath::Reach::kExact;
  const bool in_place = Has(parsed, Meaning::kInPlace);
  switch (row.operands) {
    case Operands::kNone: return;
    case Operands::kTarget: return AddTarget(command, parsed, reach);
    case Operands::kLink: {
      const bool replaces = Has(parsed, Meaning::kReplaces);
      const ShellWord last = parsed.operands.size() < 2 ? Known(".") : parsed.operands.back();
      AddPaths(replaces ? command.loses : command.writes, last, command);
      if (replaces) Raise(command, ShellEffect::kDestroys, "it may replace what is there");
      return;
    }
    case Operands::kLose: {
      const bool appends = in_place;
      bool loses = false;
      for (const ShellWord& word : parsed.operands) {
        if (word.known() && IsSink(word.text)) continue;
        AddPaths(appends ? command.writes : command.loses, word, command,
                 appends ? reach : ShellPath::Reach::kTree);
        loses = !appends;
      }
      if (loses) Raise(command, ShellEffect::kDestroys, "it deletes or overwrites files");
      return;
    }
    case Operands::kChange:
      for (const ShellWord& word : parsed.operands) {
        const bool replaces = Has(parsed, Meaning::kReplaces);
        AddPaths(replaces ? command.loses : command.writes, word, command, reach);
        if (replaces) Raise(command, ShellEffect::kDestroys, "it may replace what is there");
      }
      return;
    default: break;
  }
  const bool skips = row.operands == Operands::kPattern && !Has(parsed, Meaning::kPattern) &&
                     !Has(parsed, Meaning::kPatternFile) && !Has(parsed, Meaning::kNoPattern);
  for (std::size_t i = skips ? 1 : 0; i < parsed.operands.size(); ++i)
    AddPaths(in_place || row.effect == ShellEffect::kWrites ? command.writes : command.reads,
             parsed.operands[i], command, reach);
  if (in_place) Raise(command, ShellEffect::kWrites, "it changes files in place");
  const bool searches = row.names.starts_with("rg") || row.names.starts_with("ag");
  if ((tree || searches) && parsed.operands.size() <= (skips ? 1 : 0))
    AddPaths(command.reads, Known("."), command, ShellPath::Reach::kTree);
  for (ShellPath& path : command.reads) path.links = path.links || linked;
}

std::string WhyOf(ShellEffect effect, std::string_view program) {
  switch (effect) {
    case ShellEffect::kReadOnly: return "";
    case ShellEffect::kWrites: return fmt::format("{} changes files", program);
    case ShellEffect::kRunsProject: return fmt::format("{} runs code of the project", program);
    case ShellEffect::kFetches: return fmt::format("{} uses the network", program);
    case ShellEffect::kUnknown: return fmt::format("what {} does is not known", program);
    case ShellEffect::kProcess: return fmt::format("{} acts on other processes", program);
    case ShellEffect::kNetwork: return fmt::format("{} may send something away", program);
    case ShellEffect::kDestroys:
      return fmt::format("{} can destroy what cannot be restored", program);
  }
  return "";
}

/// With one of these, what stands among their operands is more than a file or a text.
void JudgeOperands(ShellCommand& command, const std::string& program, const ParsedWords& parsed) {
  const auto all = [&](const auto& plain) {
    if (std::ranges::all_of(parsed.operands, plain)) return;
    Raise(command, ShellEffect::kUnknown, fmt::format("what {} is given is not plain", program));
  };
  const auto none = [](const ShellWord&) { return false; };
  if (program == "hostname") return all(none);
  if (program == "date")
    return all([](const ShellWord& word) { return word.text.starts_with('+'); });
  if (program == "stty") return all([](const ShellWord& word) { return word.text == "size"; });
  if (program == "tput")
    return all([](const ShellWord& word) { return !HasWord("init reset", word.text); });
  // @FILE stands for the options in that file.
  if (HasWord("nm objdump readelf size strings", program))
    return all([](const ShellWord& word) { return word.known() && !word.text.starts_with('@'); });
  // Their programs can read files of any name.
  if (HasWord("jq gojq yq", program))
    return all([](const ShellWord& word) {
      return std::ranges::none_of(
          std::array<std::string_view, 5>{"import", "include", "load", "system", "eval("},
          [&](std::string_view verb) { return word.text.contains(verb); });
    });
  if (program != "uniq" && program != "xxd") return;
  for (std::size_t i = 1; i < parsed.operands.size(); ++i) {
    AddPaths(command.loses, parsed.operands[i], command);
    Raise(command, ShellEffect::kDestroys, program + " overwrites its second file");
  }
}

/// Programs that a file of the project may replace or extend before they say their version.
constexpr std::string_view kObedient =
    "cargo rustc rustfmt yarn pnpm bun mvn mvnw gradle gradlew sbt bazel bazelisk dotnet mix "
    "bundle eslint jest vitest";

/// Programs of the table that start what they are given, here or elsewhere.
constexpr std::string_view kStarters =
    "make gmake gdb lldb valgrind perf heaptrack rr ltrace hyperfine docker podman nerdctl "
    "docker-compose "
    "kubectl oc ssh just task nodemon coverage locust at batch crontab expect";

OptionStyle StyleOf(std::string_view program, bool first) {
  if (HasWord("go terraform tofu", program))
    return first ? OptionStyle::kFirstSingleDash : OptionStyle::kSingleDash;
  return first || program == "type" ? OptionStyle::kFirst : OptionStyle::kGnu;
}

/// Whether an option stands before the subcommand, where it is known.
bool IsGlobal(const ParsedWords& first, const Option& option) {
  return std::ranges::any_of(first.options, [&](const Option& one) {
    return one.meaning != Meaning::kUnlisted && one.name == option.name;
  });
}

void JudgeByTable(ShellCommand& command, const std::string& program) {
  const std::span<const ShellWord> words = std::span(command.words).subspan(1);
  // Which subcommand it is, is only known when all before it is.
  const ParsedWords first = ParseOptions(words, GlobalOptions(program), StyleOf(program, true));
  const auto operand = [&](std::size_t i) {
    return i < first.operands.size() && first.operands[i].known() ? first.operands[i].text : "";
  };
  const ProgramRow* row = FindProgram(program, operand(0), operand(1));
  const bool asks = words.size() == 1 && words[0].known() &&
                    HasWord("--version --help -V", words[0].text) && !HasWord(kObedient, program);
  if (asks && FindProgram(program, "--version", "") != nullptr) return;
  const bool hidden =
      row != nullptr && !row->subcommands.empty() && (first.unlisted || operand(0).empty());
  if (row == nullptr || hidden) {
    command.foreign = row == nullptr;
    Raise(command, ShellEffect::kUnknown, WhyOf(ShellEffect::kUnknown, program));
    // It may do with files what it likes; those that it names are likely.
    for (const ShellWord& word : words) AddPaths(command.reads, word, command);
    return;
  }
  Raise(command, row->effect, WhyOf(row->effect, program));
  command.foreign = HasWord(kStarters, program);
  const ParsedWords parsed = ParseOptions(words, row->options, StyleOf(program, false));
  for (const Option& option : first.options) {
    if (!row->subcommands.empty()) ApplyOption(command, option, program);
  }
  for (const Option& option : parsed.options) {
    const bool global = option.meaning == Meaning::kUnlisted && IsGlobal(first, option);
    if (!global) ApplyOption(command, option, program);
  }
  // A word whose value is not known may be one of the options that matter.
  if (parsed.maybe_option && HasDanger(row->options) && row->effect == ShellEffect::kReadOnly)
    Raise(command, ShellEffect::kUnknown, "a word of it that is not known may be an option");
  const bool all_known = std::ranges::all_of(words, &ShellWord::known);
  if (row->effect == ShellEffect::kFetches && !all_known)
    Raise(command, ShellEffect::kNetwork, "a word of it that is not known goes to the network");
  if (row->effect == ShellEffect::kDestroys && row->operands == Operands::kNone)
    command.loses.push_back({"", ShellPath::Reach::kAnywhere});
  AddOperands(command, *row, parsed);
  JudgeOperands(command, program, parsed);
}

/// Pagers, editors and builtins that can run anything they are told to.
constexpr std::string_view kRunners =
    "less more most man info vi vim nvim nano emacs ed ex view pico joe dc ldd alias unalias "
    "enable shopt bind complete compopt compgen mapfile readarray let history fc";

void JudgeProgram(ShellCommand& command, const ShellPlace& place) {
  const ShellWord& first = command.words[0];
  if (!first.known()) {
    command.odd = true;
    Raise(command, ShellEffect::kUnknown, "which program it runs is not known");
    return;
  }
  const bool ascii = std::ranges::all_of(first.text, [](char c) { return c > ' ' && c < 0x7f; });
  if (!ascii || first.text.empty()) {
    command.odd = true;
    Raise(command, ShellEffect::kUnknown, "the name of its program has odd characters");
    return;
  }
  const std::string program = ProgramName(command);
  if (JudgeBuiltin(command)) return;
  if (program.empty()) {
    const std::vector<ShellPath> paths = PathsOf(first, command.folders);
    const bool own = std::ranges::all_of(paths, [&](const ShellPath& path) {
      return path.reach == ShellPath::Reach::kExact && IsInside(path.path, place.cwd);
    });
    command.foreign = true;
    Raise(command, own ? ShellEffect::kRunsProject : ShellEffect::kUnknown,
          fmt::format("it runs {}", first.text));
    return;
  }
  if (HasWord(kRunners, program)) {
    Raise(command, ShellEffect::kUnknown, program + " can run other programs");
    command.foreign = true;
    command.odd = command.odd || HasWord("alias enable bind fc let", program);
    return;
  }
  if (JudgeGit(command, place) || JudgeEditor(command) || JudgeFind(command) ||
      JudgeTransfer(command) || JudgeInterpreter(command, place) || JudgeDatabase(command))
    return;
  JudgeByTable(command, program);
}

}  // namespace

bool IsOddVariable(std::string_view name) {
  // Colours, dates and names of git are harmless; its programs and places are not.
  const bool git = name.starts_with("GIT_") && !name.starts_with("GIT_AUTHOR_") &&
                   !name.starts_with("GIT_COMMITTER_") && name != "GIT_TERMINAL_PROMPT";
  return HasWord(kOddVariables, name) || git || name.starts_with("LD_") ||
         name.starts_with("DYLD_") || name.starts_with("BASH_FUNC") || name.contains("PAGER") ||
         name.contains("EDITOR") || name == "VISUAL" || name == "BROWSER" ||
         name.ends_with("_COMMAND") || name.starts_with("npm_config_");
}

bool IsPlainAssignment(const ShellAssignment& assignment) {
  const std::string_view name = assignment.name;
  if (!HasWord(kPlainVariables, name) && !name.starts_with("LC_")) return false;
  // A loop's name may hold what it likes: it is only read as `$i`.
  const bool own = name[0] >= 'a';
  const std::string& value = assignment.value.text;
  const bool place = name == "TZ" && !value.contains("..") && !value.starts_with('/');
  const auto plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.,:+-=*%@").contains(c) || (place && c == '/');
  };
  return own || (assignment.value.known() && std::ranges::all_of(value, plain));
}

void Raise(ShellCommand& command, ShellEffect effect, std::string why) {
  command.unclear = command.unclear || effect == ShellEffect::kUnknown;
  if (effect <= command.effect) return;
  command.effect = effect;
  command.why = std::move(why);
}

void AddPaths(std::vector<ShellPath>& to, const ShellWord& word, const ShellCommand& command,
              ShellPath::Reach reach) {
  for (ShellPath& path : PathsOf(word, command.folders, reach)) to.push_back(std::move(path));
}

std::string ProgramName(const ShellCommand& command) {
  if (command.words.empty() || !command.words[0].known()) return "";
  std::string_view name = command.words[0].text;
  for (const std::string_view folder :
       {"/usr/local/bin/", "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"}) {
    if (name.starts_with(folder)) {
      name.remove_prefix(folder.size());
      break;
    }
  }
  return name.contains('/') ? "" : std::string(name);
}

void JudgeCommand(ShellCommand& command, const ShellPlace& place) {
  command.effect = ShellEffect::kReadOnly;
  if (!command.words.empty() && !command.wraps) JudgeProgram(command, place);
  JudgeAssignments(command, place);
  JudgeRedirects(command);
}

}  // namespace stet::policy
