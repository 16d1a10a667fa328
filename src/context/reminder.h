// The one place where text for the model is marked as the harness's own.
#pragma once

#include <string>
#include <string_view>

namespace stet::context {

/// `text` as the harness tells it to the model: marked, so that it does not pass for the user's.
inline std::string ReminderText(std::string_view text) {
  return "<system-reminder>\n" + std::string(text) + "\n</system-reminder>";
}

}  // namespace stet::context
