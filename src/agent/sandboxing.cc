#include "agent/sandboxing.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "json/writer.h"
#include "sandbox/support.h"
#include "tool/excluded.h"

namespace stet::agent {

namespace {

bool IsWanted(const SandboxRules& rules, policy::Mode mode) {
  return rules.when == SandboxRules::When::kAlways ||
         (rules.when == SandboxRules::When::kInAutoMode && mode == policy::Mode::kAuto);
}

/// Puts what is excluded of the project now among what is hidden.
Status Hide(const SandboxRules& rules, AllowedBy by, sandbox::Chosen& chosen) {
  if (!rules.exclude) return {};
  tool::ExcludedPaths found = tool::FindExcluded(rules.project, *rules.exclude);
  if (!found.all && by == AllowedBy::kPolicy)
    return Fail(Code::kDenied,
                "too much of the project is excluded to be hidden from it. Try again: it is asked");
  std::ranges::move(found.paths, std::back_inserter(chosen.profile.hidden));
  return {};
}

}  // namespace

Result<std::string> SessionTemp::Path() {
  if (!folder_) {
    ASSIGN_OR_RETURN(sandbox::OwnFolder made, sandbox::OwnFolder::Make("stet-tmp-"));
    folder_.emplace(std::move(made));
  }
  return folder_->path();
}

bool HidesExcluded(const SandboxRules& rules) {
  return !rules.exclude || tool::FindExcluded(rules.project, *rules.exclude).all;
}

bool IsBoxed(const SandboxRules& rules, policy::Mode mode) {
  // What policy lets run unasked because it is kept in must be kept in wholly.
  return IsWanted(rules, mode) && sandbox::Choose(rules.profile, sandbox::Need::kWhole).has_value();
}

Result<Boxed> BoxFor(const SandboxRules& rules, policy::Mode mode, const tool::Intent& intent,
                     AllowedBy by) {
  if (!IsWanted(rules, mode) || intent.command.empty() || intent.unsandboxed) return Boxed();
  // A weaker mechanism is taken only where the user enabled the sandbox without requiring it.
  const bool whole = rules.required || rules.when == SandboxRules::When::kInAutoMode;
  const Result<sandbox::Mechanism> mechanism =
      sandbox::Choose(rules.profile, whole ? sandbox::Need::kWhole : sandbox::Need::kBest);
  if (mechanism) {
    Boxed box{.chosen = sandbox::Chosen{rules.profile, *mechanism}, .note = ""};
    ASSIGN_OR_RETURN(box.chosen->profile.temp, rules.temp->Path());
    RETURN_IF_ERROR(Hide(rules, by, *box.chosen));
    if (rules.exclude && *mechanism == sandbox::Mechanism::kLandlockAlone)
      box.note = "(The sandbox that works here does not hide what is excluded of the project.)\n";
    return box;
  }
  if (rules.required)
    return Fail(Code::kUnsupported,
                fmt::format("[sandbox] required = true, and {}", mechanism.error().message));
  // In mode auto the user asked for no sandbox: commands run without, and policy knows (IsBoxed).
  if (rules.when == SandboxRules::When::kInAutoMode) return Boxed();
  return Boxed{.chosen = {},
               .note = fmt::format("(It ran without a sandbox: {}.)\n", mechanism.error().message)};
}

std::optional<Raw> BoxText(const Boxed& box) {
  if (!box.chosen) return std::nullopt;
  Raw raw{""};
  JsonWriter writer(raw.text);
  writer.BeginObject();
  writer.Member("mechanism", sandbox::MechanismName(box.chosen->mechanism));
  writer.Member("network", box.chosen->profile.network);
  writer.EndObject();
  return raw;
}

}  // namespace stet::agent
