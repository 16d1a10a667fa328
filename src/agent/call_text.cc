#include "agent/call_text.h"

#include <array>

namespace stet::agent {
namespace {

struct Notation {
  std::string_view opening;
  std::string_view inside;
};

constexpr std::array kNotations = {
    Notation{"<tool_call>", "\"name\""},
    Notation{"<function_calls>", "<invoke"},
    Notation{"<invoke name=", "<parameter"},
    Notation{"<function=", "<parameter="},
    Notation{"[TOOL_CALLS]", "\"name\""},
    Notation{"<|tool_call_begin|>", "<|"},
    Notation{"<tool_use>", "<"},
};

}  // namespace

bool HasCallText(std::string_view text) {
  for (const Notation& notation : kNotations) {
    const std::size_t at = text.find(notation.opening);
    if (at != std::string_view::npos &&
        text.find(notation.inside, at + notation.opening.size()) != std::string_view::npos)
      return true;
  }
  return false;
}

}  // namespace stet::agent
