// Tool calls that a model wrote as text. They are never run.
#pragma once

#include <string_view>

namespace stet::agent {

/// Whether `text` has what looks like a call in one of the notations that models were trained on.
bool HasCallText(std::string_view text);

}  // namespace stet::agent
