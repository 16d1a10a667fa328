// What "always" means for a command: the words that it begins with, where people repeat it with
// other ones behind them and nothing that these could say is graver. Pure.
#pragma once

#include <string>
#include <string_view>

#include "policy/shell/shell.h"

namespace stet::policy {

/// "npm run test" for `npm run test -- --watch`. Empty: only the whole line will do, because its
/// program is not in the table, it is more than one command, or something in it is dangerous.
std::string GrantPrefix(const ShellAnalysis& analysis);

/// Whether GrantPrefix could have given it.
bool IsGrantPrefix(std::string_view prefix);

}  // namespace stet::policy
