#include "agent/sandboxing.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/fs.h"
#include "json/writer.h"
#include "sandbox/support.h"
#include "tool/excluded.h"

namespace stet::agent {

namespace {

bool IsWanted(const SandboxRules& rules, policy::Mode mode) {
  return rules.when == SandboxRules::When::kAlways ||
         (rules.when == SandboxRules::When::kInAutoMode && mode == policy::Mode::kAuto);
}

/// What is kept from commands now.
struct DeniedNow {
  tool::ExcludedPaths reading;
  tool::ExcludedPaths changing;
};

DeniedNow FindDenied(const SandboxRules& rules) {
  return {tool::FindExcluded(rules.denied.reading), tool::FindExcluded(rules.denied.changing)};
}

void AddTo(sandbox::Profile& profile, DeniedNow denied) {
  std::ranges::move(denied.reading.paths, std::back_inserter(profile.hidden));
  if (!profile.only_reads())
    std::ranges::move(denied.changing.paths, std::back_inserter(profile.read_only));
}

/// Puts what is denied now among what is hidden, or read-only.
Status Hide(const SandboxRules& rules, bool by_policy, sandbox::Chosen& chosen) {
  if (rules.denied.empty()) return {};
  DeniedNow denied = FindDenied(rules);
  if ((!denied.reading.all || !denied.changing.all) && by_policy)
    return Fail(Code::kDenied,
                "too much of the project is excluded to be hidden from it. Try again: it is asked");
  AddTo(chosen.profile, std::move(denied));
  return {};
}

/// With nothing in it yet.
sandbox::Profile HidingProfile() {
  sandbox::Profile profile;
  profile.only_hides = true;
  profile.network = sandbox::network::kOpen;
  return profile;
}

/// For what runs outside of boxes: what is denied is not there. Nothing where nothing is, or where
/// it cannot be done; policy knows that (Hiding::outside).
Boxed HideOnly(const SandboxRules& rules, std::string note = "") {
  Boxed box{.chosen = std::nullopt, .note = std::move(note)};
  if (rules.denied.empty()) return box;
  sandbox::Chosen chosen{.profile = HidingProfile()};
  AddTo(chosen.profile, FindDenied(rules));
  if (chosen.profile.hidden.empty() && chosen.profile.read_only.empty()) return box;
  const auto mechanism = sandbox::Choose(chosen.profile, sandbox::Need::kWhole);
  if (!mechanism) return box;
  chosen.mechanism = *mechanism;
  box.chosen = std::move(chosen);
  return box;
}

sandbox::Profile ProfileOf(const SandboxRules& rules, policy::Box claim) {
  if (claim == policy::Box::kReads) return rules.reads;
  sandbox::Profile profile = rules.profile;
  if (claim == policy::Box::kEdits) profile.network = sandbox::network::kOff;
  // To make a repository, of either kind, is to say what git runs there.
  if (!Exists(rules.project + "/.git")) {
    profile.read_only.push_back(rules.project + "/.git");
    profile.read_only.push_back(rules.project + "/HEAD");
  }
  return profile;
}

void Guard(const std::vector<std::string>& guarded, sandbox::Profile& profile) {
  if (!profile.only_reads())
    profile.read_only.insert(profile.read_only.end(), guarded.begin(), guarded.end());
}

/// For what a mode would do by itself, and a person for it.
Result<Boxed> BoxForClaim(const SandboxRules& rules, policy::Box claim,
                          const std::vector<std::string>& guarded) {
  Boxed box{.chosen = sandbox::Chosen{.profile = ProfileOf(rules, claim)}, .note = ""};
  sandbox::Chosen& chosen = *box.chosen;
  ASSIGN_OR_RETURN(chosen.mechanism, sandbox::Choose(chosen.profile, sandbox::Need::kWhole));
  if (claim != policy::Box::kReads) {
    ASSIGN_OR_RETURN(chosen.profile.temp, rules.shared->Temp());
  }
  RETURN_IF_ERROR(Hide(rules, true, chosen));
  Guard(guarded, chosen.profile);
  return box;
}

bool IsByClaim(const Allowed& allowed) {
  return allowed.by_policy && allowed.claim != policy::Box::kNone;
}

/// Whether what a person allowed, by an answer or a rule, is kept in all the same.
bool IsWanted(const SandboxRules& rules, const std::string& command, const Allowed& allowed) {
  if (rules.when != SandboxRules::When::kInAutoMode) return IsWanted(rules, allowed.mode);
  return allowed.by_policy && IsWanted(rules, allowed.mode) && !rules.shared->WasKeptBack(command);
}

}  // namespace

Result<std::string> SharedByBoxes::Temp() {
  if (!folder_) {
    ASSIGN_OR_RETURN(sandbox::OwnFolder made, sandbox::OwnFolder::Make("stet-tmp-"));
    folder_.emplace(std::move(made));
  }
  return folder_->path();
}

Hiding HidingOf(const SandboxRules& rules) {
  if (rules.denied.empty()) return {.outside = true};
  const tool::ExcludedPaths found = tool::FindExcluded(rules.denied.reading);
  const bool in_project = std::ranges::any_of(
      found.paths, [&](const std::string& path) { return sandbox::Inside(path, rules.project); });
  return {
      .all = found.all,
      .any = !found.all || in_project,
      .outside = found.all && sandbox::Choose(HidingProfile(), sandbox::Need::kWhole).has_value()};
}

bool IsBoxed(const SandboxRules& rules, policy::Mode mode) {
  // What policy lets run unasked because it is kept in must be kept in wholly.
  return IsWanted(rules, mode) && sandbox::Choose(rules.profile, sandbox::Need::kWhole).has_value();
}

Status CanBox(const SandboxRules& rules, policy::Box claim) {
  if (claim == policy::Box::kNone) return {};
  if (rules.when == SandboxRules::When::kNever)
    return Fail(Code::kUnsupported, "[sandbox] enabled = false leaves nothing to keep it in");
  const sandbox::Profile profile = ProfileOf(rules, claim);
  if (!profile.only_reads() && rules.project_is_home)
    return Fail(Code::kUnsupported,
                "the project is the home folder itself, where programs look for what they run");
  const Result<sandbox::Mechanism> mechanism = sandbox::Choose(profile, sandbox::Need::kWhole);
  return mechanism ? Status() : std::unexpected(mechanism.error());
}

policy::Decision HeldToItsBox(policy::Decision decision, const SandboxRules& rules,
                              policy::Mode mode, const std::string& command) {
  if (decision.verdict != policy::Verdict::kAllow || decision.box == policy::Box::kNone)
    return decision;
  std::string why;
  if (rules.shared->WasKeptBack(command))
    why = "it would run unasked, and was kept from something when it did";
  else if (const Status can = CanBox(rules, decision.box); !can)
    why = fmt::format(
        "it would run unasked, and nothing keeps it in here: {} "
        "(a rule that allows it is your word)",
        can.error().message);
  if (why.empty()) return decision;
  const bool may_ask = mode != policy::Mode::kDontAsk;
  return {.verdict = may_ask ? policy::Verdict::kAsk : policy::Verdict::kDeny,
          .rule = "box",
          .reason = may_ask ? why : why + ", and nothing may be asked"};
}

bool MayWriteInABox(const SandboxRules& rules, const tool::Intent& intent, const Allowed& allowed) {
  if (intent.command.empty() || intent.unsandboxed) return false;
  return IsByClaim(allowed) ? allowed.claim != policy::Box::kReads
                            : IsWanted(rules, intent.command, allowed);
}

Result<Boxed> BoxFor(const SandboxRules& rules, const tool::Intent& intent, const Allowed& allowed,
                     const std::vector<std::string>& guarded) {
  if (intent.command.empty()) return Boxed();
  if (intent.unsandboxed) return HideOnly(rules);
  if (IsByClaim(allowed)) return BoxForClaim(rules, allowed.claim, guarded);
  if (!IsWanted(rules, intent.command, allowed)) return HideOnly(rules);
  // A weaker mechanism is taken only where the user enabled the sandbox without requiring it.
  const bool whole = rules.required || rules.when == SandboxRules::When::kInAutoMode;
  const Result<sandbox::Mechanism> mechanism =
      sandbox::Choose(rules.profile, whole ? sandbox::Need::kWhole : sandbox::Need::kBest);
  if (mechanism) {
    Boxed box{.chosen = sandbox::Chosen{rules.profile, *mechanism}, .note = ""};
    ASSIGN_OR_RETURN(box.chosen->profile.temp, rules.shared->Temp());
    RETURN_IF_ERROR(Hide(rules, allowed.by_policy, *box.chosen));
    Guard(guarded, box.chosen->profile);
    if (!rules.denied.empty() && *mechanism == sandbox::Mechanism::kLandlockAlone)
      box.note = "(The sandbox that works here does not hide what is excluded of the project.)\n";
    return box;
  }
  if (rules.required)
    return Fail(Code::kUnsupported,
                fmt::format("[sandbox] required = true, and {}", mechanism.error().message));
  // In mode auto the user asked for no sandbox, and a person allowed this command.
  if (rules.when == SandboxRules::When::kInAutoMode) return HideOnly(rules);
  return HideOnly(rules,
                  fmt::format("(It ran without a sandbox: {}.)\n", mechanism.error().message));
}

std::optional<Raw> BoxText(const Boxed& box) {
  if (!box.chosen) return std::nullopt;
  Raw raw{""};
  JsonWriter writer(raw.text);
  writer.BeginObject();
  writer.Member("mechanism", sandbox::MechanismName(box.chosen->mechanism));
  if (box.chosen->profile.takes_nothing_else())
    writer.Member("only", "hides");
  else
    writer.Member("network", box.chosen->profile.network);
  writer.EndObject();
  return raw;
}

}  // namespace stet::agent
