#include "policy/shell/unwrap.h"

#include <algorithm>
#include <array>
#include <span>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

using Words = std::vector<ShellWord>;

struct WrapperRow {
  std::string_view names;
  std::string_view first;    // The word behind the name that makes it one; empty: none.
  std::string_view options;  // All that it may have; any other hides what it starts.
  std::size_t skipped = 0;   // Operands before the command.
  ShellEffect effect = ShellEffect::kReadOnly;
  bool assigns = false;  // NAME=value may stand before the command.
  bool privileged = false;
};

constexpr ShellEffect kHarmless = ShellEffect::kReadOnly;
constexpr ShellEffect kObeys = ShellEffect::kRunsProject;  // What the project configures for it.
constexpr ShellEffect kGets = ShellEffect::kFetches;
constexpr ShellEffect kWho = ShellEffect::kUnknown;

constexpr std::array kWrappers = {
    WrapperRow{"env", "", "-i:u --ignore-environment:u -u:U --unset:U -C:c --chdir:c -0 --null -v",
               0, kHarmless, true},
    WrapperRow{"nice", "", "-n:v --adjustment:v", 0},
    WrapperRow{"ionice", "", "-c:v --class:v -n:v -t", 0},
    WrapperRow{"timeout gtimeout", "",
               "-s:v --signal:v -k:v --kill-after:v --preserve-status --foreground -v", 1},
    WrapperRow{"time", "", "-p -v", 0, kHarmless, true},
    WrapperRow{"nohup setsid", "", "-w --wait -f --fork -c", 0},
    WrapperRow{"stdbuf", "", "-i:v -o:v -e:v --input:v --output:v --error:v", 0},
    WrapperRow{"unbuffer caffeinate catchsegv", "", "-p -i -s -d", 0},
    WrapperRow{"jobs", "-x", "", 0},
    WrapperRow{"taskset", "", "-c --cpu-list", 1},
    WrapperRow{"chrt", "", "-b -i -r -f", 1},
    WrapperRow{"builtin", "", "", 0},
    WrapperRow{"command", "", "-p", 0},
    WrapperRow{"exec", "", "-c -l -a:v", 0},
    WrapperRow{"busybox", "", "", 0},
    WrapperRow{"flock", "", "-n -x -s -e -w:v --timeout:v --nonblock --exclusive --shared", 1,
               kWho},
    WrapperRow{"sudo", "",
               "-u:v --user:v -g:v --group:v -E --preserve-env -H --set-home -n --non-interactive "
               "-S --stdin "
               "-k -A -b -p:v --prompt:v",
               0, kHarmless, true, true},
    WrapperRow{"doas", "", "-u:v -n", 0, kHarmless, false, true},
    WrapperRow{"chroot", "", "", 1, kHarmless, false, true},
    WrapperRow{"runuser", "", "-u:v", 0, kHarmless, false, true},
    WrapperRow{"npx bunx pnpx", "",
               "-y --yes -q --quiet -p:v --package:v --no-install --no --prefer-offline", 0, kGets},
    WrapperRow{"uvx", "", "-q --quiet --from:v --with:v -p:v --python:v", 0, kGets},
    WrapperRow{"pnpm yarn", "exec", "-r -s --silent --filter:v", 0, kObeys},
    WrapperRow{"npm", "exec", "-y --yes -w:v --workspace:v", 0, kGets},
    WrapperRow{"npm", "x", "-y --yes", 0, kGets},
    WrapperRow{"pnpm yarn", "dlx", "-q --quiet --package:v -p:v", 0, kGets},
    WrapperRow{"bun", "x", "", 0, kGets},
    WrapperRow{"pipx", "run", "--spec:v", 0, kGets},
    WrapperRow{"uv", "run",
               "-q --quiet --with:v -p:v --python:v --extra:v --group:v --all-extras --no-sync "
               "--frozen --locked "
               "--package:v --directory:c --isolated --dev --no-dev --active",
               0, kGets},
    WrapperRow{"poetry pdm pipenv rye hatch", "run", "-q --quiet", 0, kObeys},
    WrapperRow{"bundle", "exec", "", 0, kObeys},
    WrapperRow{"conda mamba", "run", "-n:v --name:v --no-capture-output", 0, kObeys},
    WrapperRow{"mise asdf", "exec", "", 0, kObeys},
    WrapperRow{"direnv", "exec", "", 1, kObeys},
    WrapperRow{"cross-env dotenv", "", "-e:v", 0, kObeys, true},
    WrapperRow{"xvfb-run dbus-run-session", "", "-a --auto-servernum", 0, kWho},
    WrapperRow{"strace ltrace", "", "-f -e:v -s:v -c -q -t -y", 0, kWho},
};

bool IsAssignment(const ShellWord& word) {
  const std::string_view fixed = std::string_view(word.text).substr(0, word.fixed);
  const std::size_t equals = fixed.find('=');
  return equals != std::string_view::npos && equals > 0 && fixed[0] != '-' &&
         fixed.substr(0, equals).find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") ==
             std::string_view::npos;
}

ShellAssignment ToAssignment(const ShellWord& word) {
  const std::size_t equals = word.text.find('=');
  ShellWord value = word;
  value.text.erase(0, equals + 1);
  value.fixed -= std::min(value.fixed, equals + 1);
  return {word.text.substr(0, equals), std::move(value)};
}

Words From(std::span<const ShellWord> words, std::size_t begin) {
  if (begin >= words.size()) return {};
  return {words.begin() + static_cast<std::ptrdiff_t>(begin), words.end()};
}

/// A program that is found behind options and operands of its own.
std::optional<Unwrapped> UnwrapByTable(const WrapperRow& row, std::span<const ShellWord> words) {
  const ParsedWords parsed = ParseOptions(words, row.options, OptionStyle::kFirst);
  Unwrapped out{.effect = row.effect, .privileged = row.privileged};
  out.unknown = parsed.unlisted;
  for (const Option& option : parsed.options) {
    if (option.meaning == Meaning::kFolder) out.folder = option.value;
    // Without what we set, programs obey what the project says.
    const bool taken = option.meaning == Meaning::kUnclearValue &&
                       (!option.value.known() || IsOddVariable(option.value.text));
    out.unknown = out.unknown || taken || option.meaning == Meaning::kUnclear;
  }
  std::size_t at = row.skipped;
  for (; row.assigns && at < parsed.operands.size() && IsAssignment(parsed.operands[at]); ++at)
    out.assignments.push_back(ToAssignment(parsed.operands[at]));
  if (at < parsed.places.size())
    out.commands.push_back(From(words, parsed.places[at]));
  else if (row.privileged)
    out.unknown = true;  // A shell of that user.
  return out;
}

/// `python -m module`: as if the module were a program.
std::optional<Unwrapped> UnwrapModule(std::span<const ShellWord> words) {
  constexpr std::string_view kModules =
      "pytest unittest pip mypy black ruff isort flake8 pylint coverage tox nox pyright doctest "
      "uvicorn build "
      "twine virtualenv pre_commit sphinx mkdocs alembic";
  for (std::size_t i = 0; i + 1 < words.size() && words[i].known(); ++i) {
    if (words[i].text == "-m") {
      if (!words[i + 1].known() || !HasWord(kModules, words[i + 1].text)) return std::nullopt;
      // A module of that name in the working folder is taken first.
      Unwrapped out{.effect = kObeys};
      out.commands.push_back(From(words, i + 1));
      return out;
    }
    if (!HasWord("-u -B -I -O -E -s", words[i].text)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Unwrapped> UnwrapXargs(std::span<const ShellWord> words) {
  const ParsedWords parsed = ParseOptions(
      words,
      "-0 --null -r --no-run-if-empty -t --verbose -p -x -n:v --max-args:v -P:v --max-procs:v "
      "-L:v -d:v --delimiter:v -I:v -i:a --replace:a -E:v -e:a -l:a -s:v -a:u --arg-file:u",
      OptionStyle::kFirst);
  Unwrapped out;
  out.unknown = parsed.unlisted;
  if (parsed.operands.empty()) return out;
  std::string replaced;
  for (const Option& option : parsed.options) {
    // What it starts it with stands in a file.
    out.unknown = out.unknown || option.meaning == Meaning::kUnclear;
    if (!HasWord("I i --replace", option.name)) continue;
    replaced = option.value.text.empty() ? "{}" : option.value.text;
    out.unknown = out.unknown || !option.value.known();
  }
  Words command = From(words, parsed.places[0]);
  bool found = false;
  for (ShellWord& word : command) {
    const std::size_t at = replaced.empty() ? std::string::npos : word.text.find(replaced);
    if (at == std::string::npos) continue;
    word = Unknown(word.text.substr(0, at), word.text.substr(at), false);
    found = true;
  }
  if (!found) command.push_back(Unknown("", "...", true));
  out.commands.push_back(std::move(command));
  return out;
}

/// What stands for a found file: below the folder that is searched, when there is one.
ShellWord FoundFile(std::span<const ShellWord> words) {
  const bool one = !words.empty() && words[0].known() && !words[0].text.starts_with('-') &&
                   (words.size() == 1 || words[1].text.starts_with('-') || words[1].text == "!" ||
                    words[1].text == "(");
  if (!one) return Unknown("", "{}", false);
  std::string name = "*";
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (!words[i].known() || HasWord("-o -or -not ! , -iname -path", words[i].text)) {
      name = "*";
      break;
    }
    if (words[i].text == "-name" && words[i + 1].known()) name = words[i + 1].text;
  }
  const std::string root = words[0].text.ends_with('/') ? words[0].text : words[0].text + "/";
  return {root + name, ShellWord::Kind::kPattern, root.size(), false};
}

std::optional<Unwrapped> UnwrapFind(std::span<const ShellWord> words) {
  Unwrapped out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].known() || !HasWord("-exec -execdir -ok -okdir", words[i].text)) continue;
    Words command;
    for (++i; !EndsExec(words, i); ++i) {
      // It may be what ends the command, with an action behind it.
      out.unknown = out.unknown || (!words[i].known() && words[i].fixed == 0);
      const std::size_t at = words[i].text.find("{}");
      if (at == std::string::npos)
        command.push_back(words[i]);
      else if (words[i].text == "{}")
        command.push_back(FoundFile(words));
      else
        command.push_back(Unknown(words[i].text.substr(0, at), words[i].text.substr(at), false));
    }
    if (!command.empty()) out.commands.push_back(std::move(command));
  }
  if (out.commands.empty()) return std::nullopt;
  return out;
}

/// Its command goes up to a semicolon, or to the end.
std::optional<Unwrapped> UnwrapFd(std::span<const ShellWord> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].known() || !HasWord("-x -X --exec --exec-batch", words[i].text)) continue;
    Unwrapped out;
    Words command = From(words, i + 1);
    for (ShellWord& word : command) {
      out.unknown = out.unknown || word.text == ";" || (!word.known() && word.fixed == 0);
      if (word.text.contains('{')) word = Unknown("", word.text, false);
    }
    command.push_back(Unknown("", "{}", false));
    out.commands.push_back(std::move(command));
    return out;
  }
  return std::nullopt;
}

/// The text given to `-c`, or in a heredoc.
std::optional<Unwrapped> UnwrapShell(const ShellCommand& command,
                                     std::span<const ShellWord> words) {
  Unwrapped out;
  const ParsedWords parsed = ParseOptions(
      words, "-c -e -u -x -l -i -r -v -n -f -h -p -o:v -O:v --login --norc --noprofile --posix -s",
      OptionStyle::kFirst);
  const bool given =
      std::ranges::any_of(parsed.options, [](const Option& option) { return option.name == "c"; });
  if (parsed.unlisted) return std::nullopt;
  if (given) {
    if (parsed.operands.empty() || !parsed.operands[0].known())
      out.unknown = true;
    else
      out.scripts.push_back(parsed.operands[0].text);
    return out;
  }
  if (!parsed.operands.empty()) return std::nullopt;
  const auto text =
      std::ranges::find(command.redirects, ShellRedirect::Kind::kText, &ShellRedirect::kind);
  if (text == command.redirects.end() || !text->target.known()) return std::nullopt;
  out.scripts.push_back(text->target.text);
  return out;
}

/// Words that a shell puts together and reads again.
std::optional<Unwrapped> UnwrapJoined(std::span<const ShellWord> words) {
  Unwrapped out;
  std::string script;
  for (const ShellWord& word : words) {
    out.unknown = out.unknown || !word.known();
    script += (script.empty() ? "" : " ") + word.text;
  }
  if (!out.unknown && !script.empty()) out.scripts.push_back(std::move(script));
  return out;
}

std::optional<Unwrapped> UnwrapTrap(std::span<const ShellWord> words) {
  const ParsedWords parsed = ParseOptions(words, "-l -p", OptionStyle::kFirst);
  if (parsed.operands.size() < 2 ||
      (parsed.operands[0].known() && HasWord("- ", parsed.operands[0].text)))
    return Unwrapped{};
  return UnwrapJoined(std::span(parsed.operands).first(1));
}

std::optional<Unwrapped> UnwrapWatch(std::span<const ShellWord> words) {
  const ParsedWords parsed =
      ParseOptions(words, "-n:v --interval:v -d -t -e -c -g -x --differences", OptionStyle::kFirst);
  if (parsed.operands.empty() || parsed.unlisted) return Unwrapped{.unknown = true};
  return UnwrapJoined(words.subspan(parsed.places[0]));
}

std::optional<Unwrapped> UnwrapParallel(std::span<const ShellWord> words) {
  const ParsedWords parsed = ParseOptions(
      words, "-j:v --jobs:v -k --keep-order --bar --halt:v -0 -n:v -X -m", OptionStyle::kFirst);
  Unwrapped out{.unknown = parsed.unlisted || parsed.operands.empty()};
  if (out.unknown) return out;
  Words command = From(words, parsed.places[0]);
  command.erase(std::ranges::find_if(
                    command, [](const ShellWord& word) { return word.text.starts_with(":::"); }),
                command.end());
  // It hands its words to a shell once more.
  out.unknown = std::ranges::any_of(command, [](const ShellWord& word) {
    return word.text.find_first_of(" ;|&$`<>()\n") != std::string::npos;
  });
  command.push_back(Unknown("", "...", true));
  out.commands.push_back(std::move(command));
  return out;
}

std::optional<Unwrapped> UnwrapSu(std::span<const ShellWord> words) {
  Unwrapped out{.privileged = true, .unknown = true};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].known() || words[i].text != "-c" || !words[i + 1].known()) continue;
    out.scripts.push_back(words[i + 1].text);
    out.unknown = false;
  }
  return out;
}

}  // namespace

bool IsTransparent(std::string_view program) {
  return HasWord(
      "env nice ionice timeout gtimeout time nohup setsid stdbuf unbuffer caffeinate taskset "
      "builtin "
      "command exec bash sh zsh dash eval trap",
      program);
}

bool EndsExec(std::span<const ShellWord> words, std::size_t at) {
  if (at >= words.size()) return true;
  if (!words[at].known()) return false;
  return words[at].text == ";" ||
         (words[at].text == "+" && at > 0 && words[at - 1].known() && words[at - 1].text == "{}");
}

std::optional<Unwrapped> Unwrap(const ShellCommand& command) {
  const std::string program = ProgramName(command);
  if (program.empty()) return std::nullopt;
  const std::span<const ShellWord> words = std::span(command.words).subspan(1);
  if (HasWord("sh bash dash zsh ksh ash", program)) return UnwrapShell(command, words);
  if (program == "xargs" || program == "gxargs") return UnwrapXargs(words);
  if (program == "find" || program == "gfind") return UnwrapFind(words);
  if (program == "fd" || program == "fdfind") return UnwrapFd(words);
  if (program == "eval") return UnwrapJoined(words);
  if (program == "trap") return UnwrapTrap(words);
  if (program == "watch") return UnwrapWatch(words);
  if (program == "parallel") return UnwrapParallel(words);
  if (program == "su") return UnwrapSu(words);
  if (program.starts_with("python")) return UnwrapModule(words);
  // `command -v name` only looks a name up.
  if (program == "command" && !words.empty() && words[0].known() && HasWord("-v -V", words[0].text))
    return Unwrapped{};
  const auto* row = std::ranges::find_if(kWrappers, [&](const WrapperRow& one) {
    return HasWord(one.names, program) &&
           (one.first.empty() ||
            (!words.empty() && words[0].known() && words[0].text == one.first));
  });
  if (row == kWrappers.end()) return std::nullopt;
  return UnwrapByTable(*row, row->first.empty() ? words : words.subspan(1));
}

}  // namespace stet::policy
