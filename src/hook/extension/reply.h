// What an extension answers, read: the result of a tool or a command, and what it would have done
// with the context. What is wrong with it is an error that names the member; everything is bounded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "tool/tool.h"

namespace stet::hook {

/// {content: TEXT, isError?: BOOL}
Result<tool::Outcome> ReadToolReply(const Raw& reply);

/// What a slash command came to.
struct CommandReply {
  std::string text;    // To be shown.
  std::string prompt;  // To be sent as if the user had written it; empty: nothing.
};
/// {text?: TEXT, prompt?: TEXT}
Result<CommandReply> ReadCommandReply(const Raw& reply);

/// Something to do with what the model is shown.
struct ContextOperation {
  enum class Kind { kReplace, kHide, kAppend };
  Kind kind = Kind::kAppend;
  std::vector<std::string> events;  // What is replaced; for hide: from, through.
  std::string text;                 // What stands there instead, or is appended.

  friend bool operator==(const ContextOperation&, const ContextOperation&) = default;
};
/// {operations: [{op: "replace", events: [ID], text} | {op: "hide", from: ID, through: ID} |
/// {op: "append", text}]}; anything else that is no object has none.
Result<std::vector<ContextOperation>> ReadOperations(const Raw& reply);

}  // namespace stet::hook
