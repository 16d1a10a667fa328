// KeptRules: the rules that outlive a session, as far as a session changes them. Made by who opens
// it.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "policy/rule.h"

namespace stet::agent {

struct KeptRules {
  /// Keeps a grant beyond the session: `project` or `always`.
  std::function<Status(const std::string& scope, const std::string& rule)> keep;
  /// Forgets it wherever it was kept so. Not having it is no failure.
  std::function<Status(const std::string& rule)> forget;
  /// The file that the rule stands in; empty: in none.
  std::function<std::string(const policy::Rule& rule)> file;
};

}  // namespace stet::agent
