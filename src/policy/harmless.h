// Which commands are known to do no harm. Pure, and small on purpose: a command that is not plainly
// on the list is not known.
#pragma once

#include <string_view>

namespace stet::policy {

/// A command that does one thing: nothing in it can start another, or write through a redirection.
bool IsPlainCommand(std::string_view command);

/// Reads, and changes nothing: plain, and one of a fixed list of programs with arguments that keep
/// it so.
bool IsHarmlessCommand(std::string_view command);

}  // namespace stet::policy
