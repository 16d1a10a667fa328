// What a person sees of a call that asks for permission. Pure.
#pragma once

#include <string>

#include "face/console.h"
#include "protocol/live.h"

namespace stet::tui {

struct AskedText {
  std::string text;
  bool folded = false;  // Lines of the command are left out, and counted.
};

/// The call, a command in full unless it has very many lines, what the model says of it as its
/// claim, whether it is kept in a sandbox, and why it is asked.
AskedText PermissionText(const protocol::PermissionAsk& ask, const face::Console& console);

/// Every line of its command.
std::string WholeCommand(const protocol::PermissionAsk& ask);

}  // namespace stet::tui
