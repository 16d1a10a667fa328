// The rules that a session works under, from all who may set some: the machine's administrator,
// the user, the user for this project, the project, the command line.
#pragma once

#include "agent/kept_rules.h"
#include "config/roots.h"
#include "config/settings.h"
#include "policy/policy.h"
#include "protocol/device.h"
#include "protocol/live.h"

namespace stet::device {

struct RuleSources {
  const config::Roots& roots;
  const config::Settings& settings;  // The user's.
  const config::Settings& own;       // The project's, as far as it is trusted.
  const protocol::Attach& attach;
  std::string project;    // A real path.
  std::string kept_mode;  // What the session has; empty: nothing yet.
  std::string managed{config::kManagedSettings};
};

/// kInvalid names the rule or the mode that is none, kUnsupported says why a mode cannot be had.
Result<policy::Rules> MakeRules(const RuleSources& sources);

/// What is excluded of a project, as a .gitignore has it: by these settings, by the project's own
/// and by its .stetignore.
Result<std::string> ExcludedPatterns(const std::vector<const config::Settings*>& settings,
                                     const std::string& project);

/// kUnsupported, with what to do, when this process must not work in the mode bypass.
Status MayBypass();

/// Where the grants of a session that works in the project are kept: for the project, or for good.
agent::KeptRules KeptRulesOf(const config::Roots& roots, const std::string& project);

}  // namespace stet::device
