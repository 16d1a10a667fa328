// Trust: which of the things that a project brings may act. Until the user says so, nothing of it
// is loaded, run or connected to, and its configuration can only tighten.
//
// Trust is given per part, for the files as they are: their fingerprint is kept beside it, and when
// they change it no longer holds. Kept in the user's data, never in the project.
#pragma once

#include <string>
#include <vector>

#include "config/roots.h"
#include "protocol/device.h"

namespace stet::device {

/// "git" is what git runs because the repository says so: programs that its configuration names,
/// and its hooks.
inline constexpr std::string_view kTrustParts[] = {"config",     "model", "hooks",
                                                   "extensions", "mcp",   "git"};

/// What the project brings, and what of it is trusted as it is now. kInvalid when its files cannot
/// be read, or are too many to be looked at.
Result<protocol::TrustReport> ReadTrust(const config::Roots& roots, const std::string& project);

/// Whether that part is there and trusted.
bool Trusts(const protocol::TrustReport& report, std::string_view part);

/// Trusts these parts, and no others, of the project as it is now; none: nothing is trusted any
/// longer. kInvalid names an unknown part.
Status SetTrust(const config::Roots& roots, const std::string& project,
                const std::vector<std::string>& parts);

}  // namespace stet::device
