#include "policy/policy.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stet::policy {
namespace {

struct Name {
  Mode mode;
  std::string_view text;
};

constexpr std::array kModes = {
    Name{Mode::kDefault, "default"},
    Name{Mode::kAcceptEdits, "acceptEdits"},
    Name{Mode::kPlan, "plan"},
    Name{Mode::kBypass, "bypass"},
};

bool Inside(const std::string& path, const std::string& folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/') ||
         folder == "/";
}

bool AllInside(const std::vector<std::string>& paths, const std::string& folder) {
  return std::ranges::all_of(paths, [&](const std::string& path) { return Inside(path, folder); });
}

/// A command that does one thing: nothing in it can start another.
bool IsPlainCommand(std::string_view command) {
  return command.find_first_of(";&|<>`$(){}\n\\\"'*?[]~#!") == std::string_view::npos;
}

bool Fits(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return text == pattern;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

/// Whether the rule speaks of this call. A rule that allows a command speaks of plain commands
/// only: `git status` does not cover `git status; rm -rf x`.
bool Speaks(const Rule& rule, const Question& question, bool allows) {
  if (rule.tool != question.tool) return false;
  if (rule.specifier.empty()) return true;
  if (!question.command.empty())
    return (!allows || IsPlainCommand(question.command)) && Fits(rule.specifier, question.command);
  const std::vector<std::string>& paths =
      question.writes.empty() ? question.reads : question.writes;
  const auto fits = [&](const std::string& path) { return Fits(rule.specifier, path); };
  return allows ? !paths.empty() && std::ranges::all_of(paths, fits)
                : std::ranges::any_of(paths, fits);
}

const Rule* FindRule(const std::vector<Rule>& rules, const Question& question, bool allows) {
  const auto found =
      std::ranges::find_if(rules, [&](const Rule& rule) { return Speaks(rule, question, allows); });
  return found == rules.end() ? nullptr : &*found;
}

std::string RuleText(const Rule& rule) {
  return rule.specifier.empty() ? rule.tool : fmt::format("{}({})", rule.tool, rule.specifier);
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" ,");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin);
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

Decision Decide(const Rules& rules, const Question& question) {
  if (const Rule* rule = FindRule(rules.deny, question, false))
    return {Verdict::kDeny, "deny:" + RuleText(*rule), "a rule forbids it"};
  if (rules.mode == Mode::kBypass) return {Verdict::kAllow, "mode:bypass", ""};
  if (rules.mode == Mode::kPlan && question.effects)
    return {Verdict::kDeny, "mode:plan", "nothing is changed while planning"};
  if (const Rule* rule = FindRule(rules.allow, question, true))
    return {Verdict::kAllow, "allow:" + RuleText(*rule), ""};
  const bool home = AllInside(question.reads, rules.project);
  if (!question.effects && home) return {Verdict::kAllow, "read in project", ""};
  if (rules.mode == Mode::kAcceptEdits && question.command.empty() && home &&
      !question.writes.empty() && AllInside(question.writes, rules.project))
    return {Verdict::kAllow, "mode:acceptEdits", ""};
  if (!question.command.empty()) return {Verdict::kAsk, "command", "commands are asked"};
  if (!question.effects) return {Verdict::kAsk, "read outside", "it is outside the project"};
  return {Verdict::kAsk, "write", "changes are asked"};
}

}  // namespace stet::policy
