// Piece: what one event of the active view brings to a request, before it is put into the order
// that models want.
#pragma once

#include <string>
#include <variant>

#include "provider/request.h"

namespace stet::context {

/// A reminder that goes into the result before it.
struct MergedReminder {
  std::string text;
};

/// Something was here that the model is no longer shown: nothing is joined across it.
struct Gap {};

using Piece = std::variant<provider::UserInput, provider::AssistantTurn, provider::ToolResult,
                           MergedReminder, Gap>;

/// A message of the user's with this text alone.
provider::UserInput TextInput(std::string text);

}  // namespace stet::context
