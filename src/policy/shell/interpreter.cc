// Shells and interpreters: what they are given to run decides.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/path.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

struct Interpreter {
  std::string_view names;
  std::string_view code;     // Options whose value is code.
  std::string_view options;  // Of the others, those that matter.
};

constexpr std::array kInterpreters = {
    Interpreter{
        "python python2 python3 pypy pypy3 python3.9 python3.10 python3.11 python3.12 python3.13",
        "c", "-c:v -m:v -W:v -X:v -u -B -E -I -O -s -S -v -q -b -V --version -h --help"},
    Interpreter{"node nodejs", "e p --eval --print",
                "-e:v -p:v --eval:v --print:v -r:r --require:r --import:r --loader:r --test "
                "--inspect --watch -v --version -c --check --experimental-strip-types --env-file:r "
                "--max-old-space-size:v --no-warnings --enable-source-maps --test-reporter:v "
                "--experimental-test-coverage --trace-warnings --test-name-pattern:v -h --help"},
    Interpreter{"deno", "e --eval", "-e:v --eval:v"},
    Interpreter{"perl", "e E", "-e:v -E:v -n -p -i:i -w -l -a -F:v -0 -M:v -I:v -c -v -V -s -t -T"},
    Interpreter{"ruby", "e", "-e:v -n -p -i:i -w -I:v -r:v -c -v --version"},
    Interpreter{"php", "r", "-r:v -l -v -i -m -S:v -t:v -f:r --version -d:v"},
    Interpreter{"lua luajit Rscript julia elixir erl ghci ocaml racket guile sbcl clojure bb "
                "osascript tclsh "
                "expect gnuplot octave groovy jshell scala kotlin swift java",
                "e --eval", "-e:v --eval:v --version"},
};

/// Code that holds one of these may delete, overwrite, start programs or reach the network.
constexpr std::array<std::string_view, 46> kHeavyCode = {
    "rmtree",        "unlink",      "remove(",   "rmdir",
    "removedirs",    "truncate",    "shutil",    "os.system",
    "subprocess",    "popen",       "Popen",     "exec(",
    "eval(",         "__import__",  "socket",    "urllib",
    "requests.",     "http.client", "fs.rm",     "rmSync",
    "child_process", "execSync",    "spawn",     "system(",
    "system ",       "`",           "qx",        "writeFile",
    "'w'",           "\"w\"",       "'wb'",      "\"wb\"",
    "write_text",    "write_bytes", "os.rename", "os.replace",
    "rename(",       "chmod(",      "kill(",     "fetch(",
    "importlib",     "compile(",    "b64decode", "fromhex",
    "fork",          "getattr(",
};

/// Of these, what may run another program, or code that is not to be seen.
constexpr auto kRunningCode = std::to_array<std::string_view>(
    {"os.system", "subprocess", "popen",   "Popen",    "exec(",     "eval(",   "__import__",
     "spawn",     "system(",    "system ", "`",        "qx",        "fork(",   "child_process",
     "execSync",  "importlib",  "ctypes",  "getattr(", "b64decode", "fromhex", "runpy"});

void JudgeCode(ShellCommand& command, const ShellWord& code, std::string_view program) {
  const auto holds = [&](std::string_view word) { return code.text.contains(word); };
  command.foreign = true;
  command.heavy = command.heavy || std::ranges::any_of(kHeavyCode, holds);
  command.odd = command.odd || std::ranges::any_of(kRunningCode, holds) || !code.known();
  Raise(command, ShellEffect::kUnknown, fmt::format("{} runs code that it is given", program));
}

/// What it reads as a program when no file is named.
const ShellWord* TextGiven(const ShellCommand& command) {
  const auto found =
      std::ranges::find(command.redirects, ShellRedirect::Kind::kText, &ShellRedirect::kind);
  return found == command.redirects.end() ? nullptr : &found->target;
}

void JudgeInput(ShellCommand& command, std::string_view program) {
  if (const ShellWord* text = TextGiven(command)) return JudgeCode(command, *text, program);
  command.odd = true;
  Raise(command, ShellEffect::kUnknown, fmt::format("{} runs what it is sent", program));
}

void JudgeFile(ShellCommand& command, const ShellWord& file, const ShellPlace& place) {
  const std::vector<ShellPath> paths = PathsOf(file, command.folders);
  // Not a file, but what another program writes.
  if (file.text == "-" || file.text.starts_with("/dev/") || file.text.starts_with("/proc/"))
    return JudgeInput(command, "it");
  const bool own = std::ranges::all_of(paths, [&](const ShellPath& path) {
    return path.reach == ShellPath::Reach::kExact && IsInside(path.path, place.cwd);
  });
  AddPaths(command.reads, file, command);
  Raise(command, own ? ShellEffect::kRunsProject : ShellEffect::kUnknown,
        fmt::format("it runs {}", file.text));
}

void JudgeLanguage(ShellCommand& command, const Interpreter& row, const std::string& program,
                   const ShellPlace& place) {
  const std::span<const ShellWord> words = std::span(command.words).subspan(1);
  if (words.size() == 1 && words[0].known() &&
      HasWord("--version -version -V -v --help -h", words[0].text))
    return;
  const ParsedWords parsed = ParseOptions(words, row.options, OptionStyle::kFirst);
  bool coded = false;
  bool tests = false;
  for (const Option& option : parsed.options) {
    if (HasWord(row.code, option.name)) {
      JudgeCode(command, option.value, program);
      coded = true;
    }
    tests = tests || option.name == "--test" || option.name == "m";
    if (option.meaning == Meaning::kReads) JudgeFile(command, option.value, place);
    if (option.meaning == Meaning::kInPlace)
      Raise(command, ShellEffect::kUnknown, "it changes files in place");
  }
  if (parsed.unlisted || parsed.maybe_option)
    Raise(command, ShellEffect::kUnknown, "an option of it is not known");
  if (coded) return;
  if (tests) return Raise(command, ShellEffect::kRunsProject, "it runs code of the project");
  if (parsed.operands.empty() || (parsed.operands[0].known() && parsed.operands[0].text == "-"))
    return JudgeInput(command, program);
  if (program == "deno")
    return Raise(command, ShellEffect::kRunsProject, "it runs code of the project");
  JudgeFile(command, parsed.operands[0], place);
}

/// A script in a file; a text is taken apart by itself.
void JudgeShell(ShellCommand& command, const std::string& program, const ShellPlace& place) {
  const ParsedWords parsed =
      ParseOptions(std::span(command.words).subspan(1), "-c -o:v -O:v --rcfile:x --init-file:x",
                   OptionStyle::kFirst);
  for (const Option& option : parsed.options) {
    if (HasWord("c s", option.name) || option.meaning == Meaning::kRuns) command.odd = true;
  }
  if (parsed.operands.empty() || command.odd) return JudgeInput(command, program);
  JudgeFile(command, parsed.operands[0], place);
}

}  // namespace

bool JudgeInterpreter(ShellCommand& command, const ShellPlace& place) {
  const std::string program = ProgramName(command);
  if (program == "source" || program == ".") {
    if (command.words.size() < 2) return true;
    JudgeFile(command, command.words[1], place);
    return true;
  }
  if (HasWord("sh bash dash zsh ksh ash fish csh tcsh busybox", program)) {
    JudgeShell(command, program, place);
    return true;
  }
  const auto* row = std::ranges::find_if(
      kInterpreters, [&](const Interpreter& one) { return HasWord(one.names, program); });
  if (row == kInterpreters.end()) return false;
  JudgeLanguage(command, *row, program, place);
  return true;
}

}  // namespace stet::policy
