// GitSettings: what a git configuration file says, read without git: nothing that it names is run
// or followed. Pure; untrusted text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::tool {

struct GitSetting {
  std::string name;   // "core.fsmonitor", "filter.lfs.clean": as git compares it.
  std::string value;  // "true" where there is none.
  friend bool operator==(const GitSetting&, const GitSetting&) = default;
};

/// kInvalid for a text that git refuses, and for one that git reads but this parser does not.
Result<std::vector<GitSetting>> ParseGitSettings(std::string_view text);

/// Whether git neither runs a program because of it nor looks for more settings elsewhere. By a
/// list of those that are known: what is not on it is not harmless.
bool IsHarmless(const GitSetting& setting);

}  // namespace stet::tool
