// Rule: which calls a user, a project or an administrator allows, denies or wants to be asked
// about: `Tool`, or `Tool(specifier)`.
//
// The specifier of a command is that command, or its beginning with a star behind it; of an
// address it is its beginning, or `domain:host`; of a file it is a pattern as gitignore has them:
// from "/" an absolute path, from "~/" in the home folder, else in the project; a folder stands for
// all that is in it. A rule about reading or editing holds for every tool that reads or writes, and
// one that forbids holds for commands too. Pure; nothing here looks at the disk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/shell/shell.h"

namespace stet::policy {

/// Who said it.
enum class Source {
  kCommandLine,
  kSession,  // Granted in answer to an ask, for this session.
  kLocal,    // The user's own, for this project.
  kUser,     // The user's file.
  kProject,  // The project's file.
  kManaged,  // The machine's administrator.
};
/// "the command line", "the session", ...
std::string_view SourceName(Source source);

struct Rule {
  std::string tool;       // A star at the end stands for anything: "mcp__github__*".
  std::string specifier;  // Empty: every call of the tool.
  bool exact = false;     // The specifier is the whole command or path: a star is a star.
  Source source = Source::kCommandLine;
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// "Read,Bash(git status)" or with blanks between. kInvalid names the part that is no rule, or
/// whose tool is plainly meant to be another.
Result<std::vector<Rule>> ParseRules(std::string_view text, Source source = Source::kCommandLine);
/// "Edit" or "Bash(make -j2)": as a grant stands in the log.
std::string RuleText(const Rule& rule);
/// The other way, for a grant: its specifier is exact, unless it is a prefix as GrantFor gives it.
Rule GrantFrom(std::string_view text, Source source = Source::kSession);

/// What a call would do, as the tool says it.
struct Question {
  std::string tool;
  bool effects = false;
  std::vector<std::string> reads;  // Real paths.
  std::vector<std::string> writes;
  std::string command;
  std::optional<ShellAnalysis> shell;       // Of the command, with real paths.
  std::vector<ShellAnalysis> scripts = {};  // Of the project, which the command runs.
  std::vector<std::string> restorable;      // Of what the command would lose: what can be restored.
  std::string url;
  std::string obeyed;   // Why git obeys what it changes; empty: as far as is known, it does not.
  std::string caution;  // Why a change must be asked, whatever the mode: "it has 2 names".
  bool unsandboxed = false;  // A command that is to run outside the sandbox.
};

/// The folders that patterns start from. Real paths.
struct Places {
  std::string project;
  std::string home;
};

/// Whether an allowing rule covers all that the call would do.
bool Covers(const Rule& rule, const Question& question, const Places& places);
/// Whether a forbidding rule, or one that wants to be asked, speaks of anything that it would do.
/// Of scripts what they name counts.
bool Touches(const Rule& rule, const Question& question, const Places& places);

/// The files that a rule forbids to read or to change, as far as a box can keep commands from them.
struct ForbiddenFiles {
  std::string folder;
  std::string pattern;   // Below it, as in a .gitignore; empty: the folder, or file, itself.
  bool reading = false;  // Else only changing.
  friend bool operator==(const ForbiddenFiles&, const ForbiddenFiles&) = default;
};
/// Nothing: it is about no files, or about files that may be anywhere on the disk.
std::optional<ForbiddenFiles> ForbiddenBy(const Rule& rule, const Places& places);

/// Whether a rule about files could speak of one that the call reaches in a way that is not known:
/// `cat $x`, a command that hides what it runs.
bool CouldReach(const Rule& rule, const Question& question);
/// Whether a rule is about commands, and could cover one part of a line.
bool IsAboutCommands(const Rule& rule, const Question& question);

/// kInvalid names a rule whose tool is none of `tools`, nor one that we know, nor an MCP server's.
/// Grants are passed over: their tools were there.
Status CheckTools(const std::vector<Rule>& rules, std::span<const std::string> tools);

/// The host of an address.
std::string_view HostOf(std::string_view url);
/// Whether `path` is `folder` or below it.
bool Inside(std::string_view path, std::string_view folder);

}  // namespace stet::policy
