#include "policy/policy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "policy/harmless.h"

namespace stet::policy {
namespace {

struct Name {
  Mode mode;
  std::string_view text;
};

constexpr std::array kModes = {
    Name{Mode::kDefault, "default"},
    Name{Mode::kAcceptEdits, "acceptEdits"},
    Name{Mode::kAuto, "auto"},
    Name{Mode::kPlan, "plan"},
    Name{Mode::kDontAsk, "dontAsk"},
    Name{Mode::kBypass, "bypass"},
    Name{Mode::kBypass, "bypassPermissions"},
};

bool Inside(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/') ||
         folder == "/";
}

bool AtHome(const Rules& rules, const std::vector<std::string>& paths) {
  return std::ranges::all_of(paths, [&](const std::string& path) {
    return Inside(path, rules.project) ||
           std::ranges::any_of(rules.more_roots,
                               [&](const std::string& root) { return Inside(path, root); });
  });
}

bool Fits(const Rule& rule, std::string_view text) {
  std::string_view pattern = rule.specifier;
  if (rule.exact || !pattern.ends_with('*')) return text == pattern;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
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

/// `domain:example.com` is that host and those below it; else the beginning of an address.
bool FitsUrl(const Rule& rule, std::string_view url) {
  constexpr std::string_view kDomain = "domain:";
  if (!rule.specifier.starts_with(kDomain)) return Fits(rule, url);
  const std::string_view domain = std::string_view(rule.specifier).substr(kDomain.size());
  const std::string_view host = HostOf(url);
  return host == domain || (host.ends_with(domain) && !domain.empty() &&
                            host[host.size() - domain.size() - 1] == '.');
}

/// Whether the rule speaks of this call. A beginning that allows a command speaks of plain commands
/// only: `git status*` does not cover `git status; rm -rf x`.
bool Speaks(const Rule& rule, const Question& question, bool allows) {
  if (rule.tool != question.tool) return false;
  if (rule.specifier.empty()) return true;
  if (!question.command.empty())
    return Fits(rule, question.command) &&
           (!allows || question.command == rule.specifier || IsPlainCommand(question.command));
  if (!question.url.empty()) return FitsUrl(rule, question.url);
  const std::vector<std::string>& paths =
      question.writes.empty() ? question.reads : question.writes;
  const auto fits = [&](const std::string& path) { return Fits(rule, path); };
  return allows ? !paths.empty() && std::ranges::all_of(paths, fits)
                : std::ranges::any_of(paths, fits);
}

const Rule* FindRule(const std::vector<Rule>& rules, const Question& question, bool allows) {
  const auto found =
      std::ranges::find_if(rules, [&](const Rule& rule) { return Speaks(rule, question, allows); });
  return found == rules.end() ? nullptr : &*found;
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" ,");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin);
}

/// What the run withholds from this call; empty: nothing.
std::string_view Withheld(const Capabilities& run, const Question& question) {
  if (!question.effects) return "";
  // What changes something in a way that we cannot tell needs both.
  const bool runs = !question.command.empty() || question.writes.empty();
  const bool writes = !question.writes.empty() || question.command.empty();
  if (writes && !run.may_write) return "run:write";
  return runs && !run.may_run ? "run:run" : "";
}

Decision DecideUnless(const Rules& rules, const Question& question) {
  if (const Rule* rule = FindRule(rules.hard, question, false))
    return {Verdict::kDeny, "hard:" + RuleText(*rule), "a rule forbids it for good", true};
  if (rules.mode == Mode::kPlan && question.effects)
    return {Verdict::kDeny, "mode:plan", "nothing is changed while planning"};
  if (const std::string_view withheld = Withheld(rules.run, question); !withheld.empty())
    return {Verdict::kDeny, std::string(withheld), rules.run.reason};
  if (const Rule* rule = FindRule(rules.deny, question, false))
    return {Verdict::kDeny, "deny:" + RuleText(*rule), "a rule forbids it"};
  if (rules.mode == Mode::kBypass) return {Verdict::kAllow, "mode:bypass", ""};
  if (const Rule* rule = FindRule(rules.ask, question, false))
    return {Verdict::kAsk, "ask:" + RuleText(*rule), "a rule wants it asked"};
  // What was granted was granted to a command that is kept in.
  if (question.unsandboxed)
    return {Verdict::kAsk, "unsandboxed", "it would run without the sandbox"};
  if (const Rule* rule = FindRule(rules.allow, question, true))
    return {Verdict::kAllow, "allow:" + RuleText(*rule), ""};
  const bool home = AtHome(rules, question.reads);
  if (!question.url.empty()) return {Verdict::kAsk, "network", "it uses the network"};
  if (!question.effects && home) return {Verdict::kAllow, "read in project", ""};
  const bool edits = rules.mode == Mode::kAcceptEdits || rules.mode == Mode::kAuto;
  if (edits && question.command.empty() && home && !question.writes.empty() &&
      AtHome(rules, question.writes))
    return {Verdict::kAllow, fmt::format("mode:{}", ModeName(rules.mode)), ""};
  if (!question.command.empty()) {
    if (rules.mode == Mode::kAuto && IsHarmlessCommand(question.command))
      return {Verdict::kAllow, "mode:auto", ""};
    return {Verdict::kAsk, "command", "commands are asked"};
  }
  if (!question.effects) return {Verdict::kAsk, "read outside", "it is outside the project"};
  return {Verdict::kAsk, "write", "changes are asked"};
}

}  // namespace

std::optional<Mode> ModeFrom(std::string_view name) {
  const auto* found = std::ranges::find(kModes, name, &Name::text);
  if (found == kModes.end()) return std::nullopt;
  return found->mode;
}

std::string_view ModeName(Mode mode) { return std::ranges::find(kModes, mode, &Name::mode)->text; }

Result<std::vector<Rule>> ParseRules(std::string_view text) {
  std::vector<Rule> rules;
  for (text = Trim(text); !text.empty(); text = Trim(text)) {
    const std::size_t end = text.find_first_of(" ,(");
    Rule rule{.tool = std::string(text.substr(0, end)), .specifier = ""};
    if (end != std::string_view::npos && text[end] == '(') {
      const std::size_t close = text.find(')', end);
      if (close == std::string_view::npos || rule.tool.empty())
        return Fail(Code::kInvalid, fmt::format("{} is no rule: write Tool or Tool(...)", text));
      rule.specifier = text.substr(end + 1, close - end - 1);
      text = text.substr(close + 1);
    } else {
      text = end == std::string_view::npos ? "" : text.substr(end);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::string RuleText(const Rule& rule) {
  return rule.specifier.empty() ? rule.tool : fmt::format("{}({})", rule.tool, rule.specifier);
}

Rule GrantFrom(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')'))
    return {.tool = std::string(text), .specifier = "", .exact = true};
  return {.tool = std::string(text.substr(0, open)),
          .specifier = std::string(text.substr(open + 1, text.size() - open - 2)),
          .exact = true};
}

Rule GrantFor(const Rules& rules, const Question& question) {
  Rule rule{.tool = question.tool, .specifier = question.command, .exact = true};
  if (!question.url.empty()) {
    rule.specifier = fmt::format("domain:{}", HostOf(question.url));
    return rule;
  }
  const std::vector<std::string>& paths =
      question.writes.empty() ? question.reads : question.writes;
  if (question.command.empty() && !paths.empty() && !AtHome(rules, paths))
    rule.specifier = paths.front();
  return rule;
}

Decision Decide(const Rules& rules, const Question& question) {
  Decision decision = DecideUnless(rules, question);
  if (decision.verdict == Verdict::kAsk && rules.mode == Mode::kDontAsk)
    return {Verdict::kDeny, "mode:dontAsk", decision.reason + ", and nothing may be asked"};
  return decision;
}

}  // namespace stet::policy
