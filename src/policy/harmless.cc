#include "policy/harmless.h"

#include <algorithm>
#include <array>
#include <vector>

namespace stet::policy {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 26> kReaders = {
    "basename",  "cat",   "cmp",  "cut",  "date",  "df", "diff",   "dirname", "du",
    "echo",      "false", "grep", "head", "id",    "ls", "md5sum", "nl",      "pwd",
    "sha256sum", "stat",  "tail", "true", "uname", "wc", "which",  "whoami"};

/// With any arguments these show something and change nothing.
constexpr std::array<std::string_view, 10> kGitReaders = {
    "status",    "diff",     "log",      "show",     "blame",
    "rev-parse", "ls-files", "describe", "shortlog", "grep"};

Words Split(std::string_view command) {
  Words words;
  while (true) {
    const std::size_t begin = command.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    command.remove_prefix(begin);
    const std::size_t end = std::min(command.find_first_of(" \t"), command.size());
    words.push_back(command.substr(0, end));
    command.remove_prefix(end);
  }
}

/// A file that an option names is written, or a program that it names is run.
bool NamesAnOutputOrProgram(std::string_view word) {
  return word.starts_with("--output") || word.starts_with("--ext-diff") ||
         word.starts_with("--textconv") || word.starts_with("--open-files-in-pager") ||
         word.starts_with("-O") || word.starts_with("--pre") || word.starts_with("--files0-from");
}

/// It may lie outside the project.
bool NamesAFarPath(std::string_view word) {
  return word.starts_with('/') || word == ".." || word.starts_with("../") ||
         word.find("/..") != std::string_view::npos;
}

bool OnlyReads(const Words& words) {
  if (std::ranges::any_of(words, NamesAnOutputOrProgram)) return false;
  if (std::ranges::any_of(words, NamesAFarPath)) return false;
  if (words[0] == "git")
    return words.size() > 1 && std::ranges::find(kGitReaders, words[1]) != kGitReaders.end();
  // date -s sets the clock.
  if (words[0] == "date") return words.size() == 1 || words[1].starts_with('+');
  return std::ranges::find(kReaders, words[0]) != kReaders.end();
}

}  // namespace

bool IsPlainCommand(std::string_view command) {
  return command.find_first_of(";&|<>`$(){}\n\r\\\"'*?[]~#!=") == std::string_view::npos;
}

bool IsHarmlessCommand(std::string_view command) {
  if (!IsPlainCommand(command)) return false;
  const Words words = Split(command);
  return !words.empty() && OnlyReads(words);
}

}  // namespace stet::policy
