// The one place where text for the model is marked as the harness's own.
#pragma once

#include <string>
#include <string_view>

namespace stet::context {

/// `text` as the model is told things that nobody typed.
inline std::string ReminderText(std::string_view text) {
  return "<system-reminder>\n" + std::string(text) + "\n</system-reminder>";
}

}  // namespace stet::context
