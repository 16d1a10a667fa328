#include "policy/rule.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ignore.h"
#include "base/text.h"
#include "policy/shell/grant.h"
#include "policy/shell/rules.h"

namespace stet::policy {
namespace {

constexpr std::array<std::string_view, 4> kReaders = {"Read", "Grep", "Glob", "NotebookRead"};
constexpr std::array<std::string_view, 4> kWriters = {"Edit", "Write", "MultiEdit", "NotebookEdit"};

template <std::size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool FitsTool(std::string_view pattern, std::string_view tool) {
  if (!pattern.ends_with('*')) return tool == pattern;
  return tool.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool FitsText(const Rule& rule, std::string_view text) {
  std::string_view pattern = rule.specifier;
  if (rule.exact || !pattern.ends_with('*')) return text == pattern;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

/// `domain:example.com` is that host and those below it; else the beginning of an address.
bool FitsUrl(const Rule& rule, std::string_view url) {
  constexpr std::string_view kDomain = "domain:";
  if (!rule.specifier.starts_with(kDomain)) return FitsText(rule, url);
  const std::string_view domain = std::string_view(rule.specifier).substr(kDomain.size());
  const std::string_view host = HostOf(url);
  return host == domain || (host.ends_with(domain) && !domain.empty() &&
                            host[host.size() - domain.size() - 1] == '.');
}

/// The specifier as a pattern below some folder.
struct Pattern {
  std::string_view folder;
  std::string text;
};

Pattern PatternOf(const Rule& rule, const Places& places) {
  std::string_view text = rule.specifier;
  if (text.starts_with("~/")) return {places.home, std::string(text.substr(1))};
  if (text.starts_with('/')) {
    while (text.starts_with("//")) text.remove_prefix(1);
    return {"/", std::string(text)};
  }
  if (text.starts_with("./")) text.remove_prefix(1);
  return {places.project, std::string(text)};
}

bool FitsPath(const Rule& rule, std::string_view path, const Places& places) {
  if (rule.exact) return path == rule.specifier;
  const Pattern pattern = PatternOf(rule, places);
  if (pattern.folder.empty() || !Inside(path, pattern.folder)) return false;
  return IgnoreFile(pattern.text).Covers(path.substr(pattern.folder.size()));
}

/// Whether a command may reach what the rule names, through a path that it gives.
bool FitsShellPath(const Rule& rule, const ShellPath& path, const Places& places) {
  if (path.reach == ShellPath::Reach::kAnywhere) return false;  // See ReachesUnknown.
  if (FitsPath(rule, path.path, places)) return true;
  if (path.reach == ShellPath::Reach::kExact) return false;
  // It goes down from a folder: what the rule names may lie below.
  const Pattern pattern = PatternOf(rule, places);
  const std::string_view fixed =
      std::string_view(pattern.text).substr(0, pattern.text.find_first_of("*?[\\"));
  const std::string start = (pattern.folder == "/" ? "" : std::string(pattern.folder)) +
                            (fixed.starts_with('/') || fixed.empty() ? "" : "/") +
                            std::string(fixed);
  // A name without a slash may be anywhere.
  const bool floats = pattern.text.find('/') == std::string::npos;
  return Inside(floats ? pattern.folder : std::string_view(start), path.path) ||
         (floats && Inside(path.path, pattern.folder));
}

/// A path that a script names.
bool AnyScriptPath(const Rule& rule, const Question& question, const Places& places, bool reading) {
  const auto fits = [&](const ShellPath& path) {
    return path.reach == ShellPath::Reach::kExact && FitsPath(rule, path.path, places);
  };
  const auto named = [&](const ShellCommand& command) {
    if (reading) return std::ranges::any_of(command.reads, fits);
    return std::ranges::any_of(command.writes, fits) || std::ranges::any_of(command.loses, fits);
  };
  return std::ranges::any_of(question.scripts, [&](const ShellAnalysis& script) {
    return std::ranges::any_of(script.commands, named);
  });
}

bool AnyShellPath(const Rule& rule, const Question& question, const Places& places, bool reading) {
  if (!question.shell) return false;
  if (AnyScriptPath(rule, question, places, reading)) return true;
  return std::ranges::any_of(question.shell->commands, [&](const ShellCommand& command) {
    const auto fits = [&](const ShellPath& path) { return FitsShellPath(rule, path, places); };
    if (reading) return std::ranges::any_of(command.reads, fits);
    return std::ranges::any_of(command.writes, fits) || std::ranges::any_of(command.loses, fits);
  });
}

bool IsCommandRule(const Rule& rule, const Question& question) {
  return !question.command.empty() && FitsTool(rule.tool, question.tool);
}

/// Tools of ours, and those that others have by these names: a rule for them may come along.
constexpr auto kKnownTools = std::to_array<std::string_view>({"AskUser",
                                                              "Bash",
                                                              "BashTask",
                                                              "Count",
                                                              "Edit",
                                                              "ExitPlan",
                                                              "Glob",
                                                              "Grep",
                                                              "Read",
                                                              "Snip",
                                                              "TodoWrite",
                                                              "WebFetch",
                                                              "Write",
                                                              "StructuredOutput",
                                                              "Task",
                                                              "MultiEdit",
                                                              "NotebookEdit",
                                                              "NotebookRead",
                                                              "WebSearch",
                                                              "TodoRead",
                                                              "LS",
                                                              "BashOutput",
                                                              "KillShell",
                                                              "KillBash",
                                                              "ExitPlanMode",
                                                              "EnterPlanMode",
                                                              "AskUserQuestion",
                                                              "Skill",
                                                              "SlashCommand",
                                                              "Agent"});

bool IsKnownTool(std::string_view name) {
  return name.ends_with('*') || name.starts_with("mcp__") ||
         std::ranges::find(kKnownTools, name) != kKnownTools.end();
}

/// Whether two names differ by one letter, by two that change places, or by how they are written.
bool IsNear(std::string_view a, std::string_view b) {
  const std::string left = Lower(a);
  const std::string right = Lower(b);
  if (left == right) return true;
  if (std::min(left.size(), right.size()) < 4) return false;
  if (left.size() == right.size()) {
    std::size_t at = 0;
    while (left[at] == right[at]) ++at;
    if (left.substr(at + 1) == right.substr(at + 1)) return true;
    return at + 1 < left.size() && left[at] == right[at + 1] && left[at + 1] == right[at] &&
           left.substr(at + 2) == right.substr(at + 2);
  }
  const std::string& longer = left.size() > right.size() ? left : right;
  const std::string& shorter = left.size() > right.size() ? right : left;
  if (longer.size() != shorter.size() + 1) return false;
  for (std::size_t drop = 0; drop < longer.size(); ++drop) {
    std::string without = longer;
    if (without.erase(drop, 1) == shorter) return true;
  }
  return false;
}

/// The tool that a name was meant to be, when it is none that we know; empty: it may be another's.
std::string_view MeantTool(std::string_view name) {
  if (IsKnownTool(name)) return "";
  const auto* found = std::ranges::find_if(
      kKnownTools, [&](std::string_view known) { return IsNear(name, known); });
  return found == kKnownTools.end() ? "" : *found;
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" ,\n\t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin);
}

/// Where the specifier that begins behind `open` ends: parentheses inside it come in pairs.
std::size_t CloseOf(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view SourceName(Source source) {
  constexpr std::array<std::string_view, 6> kNames = {
      "the command line",   "the session",        "your rules for this project",
      "your configuration", "the project's file", "the machine's configuration"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string_view HostOf(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos)
    url.remove_prefix(at + 1);
  if (url.starts_with('[')) return url.substr(0, url.find(']') + 1);
  return url.substr(0, url.find(':'));
}

bool Inside(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

Result<std::vector<Rule>> ParseRules(std::string_view text, Source source) {
  std::vector<Rule> rules;
  for (text = Trim(text); !text.empty(); text = Trim(text)) {
    const std::size_t end = text.find_first_of(" ,(\n\t");
    Rule rule{.tool = std::string(text.substr(0, end)), .specifier = "", .source = source};
    if (end != std::string_view::npos && text[end] == '(') {
      const std::size_t close = CloseOf(text, end);
      if (close == std::string_view::npos || rule.tool.empty())
        return Fail(Code::kInvalid, fmt::format("{} is no rule: write Tool or Tool(...)", text));
      rule.specifier = text.substr(end + 1, close - end - 1);
      if (rule.specifier == "*") rule.specifier.clear();
      text = text.substr(close + 1);
    } else {
      text = end == std::string_view::npos ? "" : text.substr(end);
    }
    if (const std::string_view meant = MeantTool(rule.tool); !meant.empty())
      return Fail(Code::kInvalid,
                  fmt::format("there is no tool {}: is {} meant?", rule.tool, meant));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Status CheckTools(const std::vector<Rule>& rules, std::span<const std::string> tools) {
  for (const Rule& rule : rules) {
    if (!rule.exact && !IsKnownTool(rule.tool) &&
        std::ranges::find(tools, rule.tool) == tools.end())
      return Fail(Code::kInvalid,
                  fmt::format("the rule {} ({}) is for a tool that there is not here: is its name "
                              "right? {}* is for tools that may come",
                              RuleText(rule), SourceName(rule.source), rule.tool));
  }
  return {};
}

std::string RuleText(const Rule& rule) {
  return rule.specifier.empty() ? rule.tool : fmt::format("{}({})", rule.tool, rule.specifier);
}

Rule GrantFrom(std::string_view text, Source source) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')'))
    return {.tool = std::string(text), .specifier = "", .exact = true, .source = source};
  std::string specifier(text.substr(open + 1, text.size() - open - 2));
  const bool prefix = specifier.ends_with(":*") &&
                      IsGrantPrefix(std::string_view(specifier).substr(0, specifier.size() - 2));
  return {.tool = std::string(text.substr(0, open)),
          .specifier = std::move(specifier),
          .exact = !prefix,
          .source = source};
}

bool Covers(const Rule& rule, const Question& question, const Places& places) {
  const bool family = (IsOneOf(kReaders, rule.tool) && IsOneOf(kReaders, question.tool)) ||
                      (IsOneOf(kWriters, rule.tool) && IsOneOf(kWriters, question.tool));
  if (!FitsTool(rule.tool, question.tool) && (!family || rule.specifier.empty())) return false;
  if (rule.specifier.empty()) return true;
  if (!question.command.empty()) {
    if (rule.exact) return question.command == rule.specifier;
    return question.shell && ShellCovers(rule.specifier, *question.shell);
  }
  if (!question.url.empty()) return FitsUrl(rule, question.url);
  const std::vector<std::string>& paths =
      question.writes.empty() ? question.reads : question.writes;
  return !paths.empty() && std::ranges::all_of(paths, [&](const std::string& path) {
    return FitsPath(rule, path, places);
  });
}

bool Touches(const Rule& rule, const Question& question, const Places& places) {
  if (rule.specifier.empty()) return FitsTool(rule.tool, question.tool);
  if (IsCommandRule(rule, question))
    return question.command == rule.specifier ||
           (question.shell && ShellTouches(rule.specifier, *question.shell)) ||
           std::ranges::any_of(question.scripts, [&](const ShellAnalysis& script) {
             return ShellNames(rule.specifier, script);
           });
  if (!question.url.empty() && FitsTool(rule.tool, question.tool))
    return FitsUrl(rule, question.url);
  const auto fits = [&](const std::string& path) { return FitsPath(rule, path, places); };
  const bool reading = IsOneOf(kReaders, rule.tool);
  if (reading || FitsTool(rule.tool, question.tool)) {
    if (std::ranges::any_of(question.reads, fits) || AnyShellPath(rule, question, places, true))
      return true;
  }
  // What may not be read may not be replaced unread either.
  return (reading || IsOneOf(kWriters, rule.tool) || FitsTool(rule.tool, question.tool)) &&
         (std::ranges::any_of(question.writes, fits) ||
          AnyShellPath(rule, question, places, false));
}

bool IsAboutCommands(const Rule& rule, const Question& question) {
  return !rule.exact && IsCommandRule(rule, question);
}

std::optional<ForbiddenFiles> ForbiddenBy(const Rule& rule, const Places& places) {
  const bool reading = IsOneOf(kReaders, rule.tool);
  if ((!reading && !IsOneOf(kWriters, rule.tool)) || rule.specifier.empty() || rule.exact)
    return std::nullopt;
  const Pattern pattern = PatternOf(rule, places);
  if (pattern.folder.empty() || pattern.text.starts_with('!')) return std::nullopt;
  if (pattern.folder == places.project)
    return ForbiddenFiles{std::string(pattern.folder), pattern.text, reading};
  // From the root, or the home folder: down to where it is a pattern.
  std::string_view text = pattern.text;
  while (text.ends_with('/') && text.size() > 1) text.remove_suffix(1);
  const std::size_t wild = text.find_first_of("*?[\\");
  const std::string above(pattern.folder == "/" ? "" : pattern.folder);
  ForbiddenFiles files{above + std::string(text), "", reading};
  if (wild != std::string_view::npos) {
    const std::size_t slash = text.rfind('/', wild);
    files.folder = above + std::string(text.substr(0, slash));
    if (text.substr(slash) != "/**") files.pattern = text.substr(slash);
  }
  // What holds the project, or the whole home, is too much to be looked through, or hidden.
  const bool wide = files.folder.size() < 2 || Inside(places.project, files.folder) ||
                    Inside(places.home, files.folder);
  if (wide) return std::nullopt;
  return files;
}

bool CouldReach(const Rule& rule, const Question& question) {
  const bool reading = IsOneOf(kReaders, rule.tool);
  if (!question.shell || rule.specifier.empty() || (!reading && !IsOneOf(kWriters, rule.tool)))
    return false;
  if (!question.shell->understood) return true;
  return std::ranges::any_of(question.shell->commands, [&](const ShellCommand& command) {
    if (command.odd) return true;
    const auto open = [](const ShellWord& word) {
      return word.kind == ShellWord::Kind::kUnknown && word.any_of.empty();
    };
    const bool named =
        std::ranges::none_of(command.words, open) &&
        std::ranges::none_of(command.redirects, [&](const ShellRedirect& redirect) {
          return redirect.kind != ShellRedirect::Kind::kText && open(redirect.target);
        });
    if (named) return false;
    const auto anywhere = [](const ShellPath& path) {
      return path.reach == ShellPath::Reach::kAnywhere;
    };
    return (reading && std::ranges::any_of(command.reads, anywhere)) ||
           std::ranges::any_of(command.writes, anywhere) ||
           std::ranges::any_of(command.loses, anywhere);
  });
}

}  // namespace stet::policy
