// What policy is asked about a call: what the tool intends, with what the disk says about the paths
// that are named, links followed.
#pragma once

#include <string>
#include <string_view>

#include "policy/policy.h"
#include "tool/tool.h"

namespace stet::agent {

/// `rules` say whose home it is, and whether the project's repository may name programs.
policy::Question QuestionOf(std::string_view tool, const tool::Intent& intent,
                            const tool::Workspace& workspace, const policy::Rules& rules);

/// Whether a tool may show the file at a real path without asking: what goes along unasked may hold
/// no more.
bool MayReadUnasked(const policy::Rules& rules, const tool::Workspace& workspace,
                    const std::string& path);

}  // namespace stet::agent
