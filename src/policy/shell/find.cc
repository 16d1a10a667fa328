// find and fd: they walk folders, and can delete, write and run what they find.
#include <algorithm>

#include <fmt/format.h>

#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "policy/shell/unwrap.h"
#include "policy/shell/word.h"

namespace stet::policy {
namespace {

constexpr std::string_view kTests =
    "-name:v -iname:v -path:v -ipath:v -wholename:v -iwholename:v -regex:v -iregex:v -lname:v "
    "-ilname:v -type:v -xtype:v -size:v -mtime:v -atime:v -ctime:v -mmin:v -amin:v -cmin:v "
    "-newer:r "
    "-newermt:v -perm:v -user:v -group:v -uid:v -gid:v -maxdepth:v -mindepth:v -links:v -inum:v "
    "-samefile:r -fstype:v -printf:v -regextype:v -used:v -D:v -anewer:r -cnewer:r -newerct:v "
    "-empty -readable -writable -executable -print -print0 -ls -prune -quit -depth -d -mount -xdev "
    "-follow -daystart -noleaf -nouser -nogroup -true -false -not -a -o -and -or -H -L -P -O1 -O2 "
    "-O3 -E -X -s -x -warn -nowarn -ignore_readdir_race --version -version -help --help";

/// The folders before the first test: what is read, or lost.
std::vector<ShellPath> Roots(const ShellCommand& command) {
  std::vector<ShellPath> roots;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (word.known() && HasWord("-H -L -P", word.text)) continue;
    if (word.text.starts_with('-') || word.text == "(" || word.text == "!") break;
    AddPaths(roots, word, command, ShellPath::Reach::kTree);
  }
  if (roots.empty()) AddPaths(roots, Known("."), command, ShellPath::Reach::kTree);
  return roots;
}

/// What is found, when all of it has a name of one form.
void Narrow(std::vector<ShellPath>& found, const ShellCommand& command) {
  std::string name;
  for (std::size_t i = 1; i + 1 < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (!word.known() || HasWord("-o -or -not ! , -iname -path", word.text)) return;
    if (word.text == "-name" && command.words[i + 1].known()) name = command.words[i + 1].text;
  }
  if (name.empty()) return;
  for (ShellPath& path : found) {
    if (path.reach != ShellPath::Reach::kTree) continue;
    path.reach = ShellPath::Reach::kMatches;
    path.name = name;
  }
}

void JudgeFindWords(ShellCommand& command) {
  command.reads = Roots(command);
  std::vector<ShellWord> tests;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const ShellWord& word = command.words[i];
    if (!word.known()) {
      if (word.maybe_option) Raise(command, ShellEffect::kUnknown, "a word of it may be an action");
      tests.push_back(word);
      continue;
    }
    if (word.text == "-delete") {
      command.loses = command.reads;
      Narrow(command.loses, command);
      Raise(command, ShellEffect::kDestroys, "find deletes what it finds");
    } else if (HasWord("-fprint -fprint0 -fls -fprintf", word.text)) {
      if (i + 1 < command.words.size()) AddPaths(command.loses, command.words[i + 1], command);
      Raise(command, ShellEffect::kDestroys, "find writes a file");
      ++i;
      if (word.text == "-fprintf") ++i;
    } else if (HasWord("-exec -execdir -ok -okdir", word.text)) {
      // The command itself is judged on its own.
      for (++i; !EndsExec(command.words, i);) ++i;
    } else {
      tests.push_back(word);
    }
  }
  const ParsedWords parsed = ParseOptions(tests, kTests, OptionStyle::kSingleDash);
  if (parsed.unlisted) Raise(command, ShellEffect::kUnknown, "an action of find is not known");
}

void JudgeFd(ShellCommand& command) {
  // The command that it runs is judged on its own, where it begins plainly.
  std::span<const ShellWord> words = std::span(command.words).subspan(1);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].known() || !HasWord("-x -X --exec --exec-batch", words[i].text)) continue;
    words = words.first(i);
    break;
  }
  const ParsedWords parsed = ParseOptions(
      words,
      "-HIasigpl0uFLq1 -etdEScjo:v -xX:X --exec:X --exec-batch:X --extension:v --type:v "
      "--max-depth:v --min-depth:v --exact-depth:v --exclude:v --hidden --no-ignore "
      "--no-ignore-vcs --unrestricted --glob --regex --fixed-strings --absolute-path "
      "--list-details --follow --full-path --print0 --size:v --changed-within:v "
      "--changed-before:v --owner:v --max-results:v --color:v --case-sensitive --ignore-case "
      "--quiet --prune --one-file-system --base-directory:U --search-path:U --threads:v "
      "--ignore-file:r --help --version");
  for (const Option& option : parsed.options) {
    if (option.meaning == Meaning::kRunsSome) command.odd = true;
    if (option.meaning == Meaning::kRunsSome || option.meaning == Meaning::kUnclearValue ||
        option.meaning == Meaning::kUnlisted)
      Raise(command, ShellEffect::kUnknown, "an option of fd is not known, or it runs programs");
  }
  for (std::size_t i = 1; i < parsed.operands.size(); ++i)
    AddPaths(command.reads, parsed.operands[i], command, ShellPath::Reach::kTree);
  if (parsed.operands.size() < 2)
    AddPaths(command.reads, Known("."), command, ShellPath::Reach::kTree);
  if (parsed.maybe_option) Raise(command, ShellEffect::kUnknown, "a word of it may be an option");
}

}  // namespace

bool JudgeFind(ShellCommand& command) {
  const std::string program = ProgramName(command);
  if (program == "find" || program == "gfind") {
    JudgeFindWords(command);
    return true;
  }
  if (program == "fd" || program == "fdfind") {
    JudgeFd(command);
    return true;
  }
  return false;
}

}  // namespace stet::policy
