#include "tool/tool.h"

namespace stet::tool {

Outcome Say(std::string text) {
  Outcome outcome;
  outcome.content.emplace_back(protocol::TextBlock{.text = std::move(text)});
  return outcome;
}

Outcome Problem(std::string_view text) {
  Outcome outcome = Say(std::string(text));
  outcome.is_error = true;
  return outcome;
}

}  // namespace stet::tool
