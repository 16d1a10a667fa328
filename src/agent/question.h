// What policy is asked about a call: what the tool intends, with what the disk says about the paths
// that are named, links followed.
#pragma once

#include <string_view>

#include "policy/rule.h"
#include "tool/tool.h"

namespace stet::agent {

policy::Question QuestionOf(std::string_view tool, const tool::Intent& intent,
                            const tool::Workspace& workspace, std::string_view home);

}  // namespace stet::agent
