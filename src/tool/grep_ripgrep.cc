// ripgrep as the engine, told to see what ours sees.
#include "tool/grep.h"

#include <cstdlib>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/subprocess/subprocess.h"
#include "base/utf8.h"
#include "tool/text_file.h"

namespace stet::tool {

namespace {

constexpr std::chrono::seconds kDeadline{60};
constexpr int kNoMatch = 1;

std::vector<std::string> ArgumentsOf(const std::string& program, const GrepQuery& query) {
  std::vector<std::string> argv = {program,
                                   "--no-config",
                                   "--color=never",
                                   "--no-heading",
                                   "--with-filename",
                                   "--sort=path",
                                   "--crlf",
                                   "--hidden",
                                   "--no-require-git",
                                   "--no-ignore-dot",
                                   "--no-ignore-global",
                                   "--no-ignore-exclude",
                                   "--no-messages",
                                   fmt::format("--max-filesize={}", kMaxTextBytes)};
  if (query.mode == GrepMode::kFiles) argv.emplace_back("--files-with-matches");
  if (query.mode == GrepMode::kCount) argv.emplace_back("--count");
  if (query.mode == GrepMode::kContent) {
    argv.emplace_back(query.line_numbers ? "--line-number" : "--no-line-number");
    argv.push_back(fmt::format("--before-context={}", query.before));
    argv.push_back(fmt::format("--after-context={}", query.after));
  }
  if (query.ignore_case) argv.emplace_back("--ignore-case");
  if (query.multiline) {
    argv.emplace_back("--multiline");
    argv.emplace_back("--multiline-dotall");
  }
  if (!query.glob.empty()) argv.push_back("--glob=" + query.glob);
  argv.emplace_back("--glob=!.git");
  if (query.file.empty()) {
    for (const std::string& name : query.secret_names) argv.push_back("--glob=!" + name);
  }
  if (!query.type.empty()) argv.push_back("--type=" + query.type);
  argv.push_back("--regexp=" + query.pattern);
  argv.push_back("./" + query.file);
  return argv;
}

/// The lines as our engine gives them: without a "\r", and cut.
std::string Tidied(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  // The path and the number are not counted as columns; where they end is not worth finding.
  constexpr std::size_t kSlack = 200;
  const std::size_t length = Utf8PrefixLength(line, kMaxGrepColumns + kSlack);
  return ReplaceInvalidUtf8(line.substr(0, length)) + (length < line.size() ? " [cut]" : "");
}

/// Nothing of our keys: what a program is started with can be read while it runs.
std::vector<std::string> Harmless() {
  std::vector<std::string> variables;
  for (const char* name : {"PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "LC_CTYPE"}) {
    if (const char* value = std::getenv(name); value != nullptr)
      variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

}  // namespace

std::string FindRipgrep() {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    // Only absolute folders: a relative one would be the project's.
    if (rest.starts_with('/')) {
      std::string program = std::string(rest.substr(0, end)) + "/rg";
      struct stat found{};
      if (::stat(program.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
          ::access(program.c_str(), X_OK) == 0)
        return program;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

Result<GrepResult> GrepWithRipgrep(const std::string& program, const GrepQuery& query,
                                   const CancelToken& cancel) {
  SpawnOptions options{.argv = ArgumentsOf(program, query), .cwd = query.folder};
  options.env = Harmless();
  ASSIGN_OR_RETURN(const Finished finished,
                   Subprocess::Run(std::move(options), Deadline::After(kDeadline), cancel));
  if (finished.end == Finished::End::kCancelled) return Fail(Code::kCancelled, "cancelled");
  GrepResult result;
  for (const std::string_view line : SplitLines(finished.out)) {
    if (static_cast<std::int64_t>(result.lines.size()) > query.max_lines) break;
    result.lines.push_back(Tidied(line));
  }
  const bool failed = finished.end != Finished::End::kExited || finished.exit_code > kNoMatch;
  if (failed && result.lines.empty())
    return Fail(Code::kInvalid,
                finished.end == Finished::End::kTimeout
                    ? std::string("The search took too long. Narrow it with path or glob.")
                    : "The search failed: " + ReplaceInvalidUtf8(finished.err));
  if (failed || finished.dropped_out > 0)
    result.note = "(The search is not complete: narrow it with path or glob.)\n";
  return result;
}

}  // namespace stet::tool
