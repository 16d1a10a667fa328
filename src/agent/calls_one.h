// A call on its way to its result: what the files of Calls share.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "agent/calls.h"
#include "agent/run_producers.h"
#include "agent/sandboxing.h"
#include "base/cancel.h"
#include "base/loop.h"

namespace stet::agent {

/// The result of a call that did not run.
tool::Outcome NotRun(std::string_view why);

/// A call on its way to its result.
struct Calls::One {
  One(Loop& loop, const CancelToken& parent) : cancel(parent), ended(loop) {}

  protocol::ToolCallBlock block;
  Raw args;  // The block's, or as an approver or a hook changed them.
  tool::Tool* tool = nullptr;
  tool::Intent intent;
  Boxed box;
  protocol::ToolStarted started;
  std::chrono::steady_clock::time_point began;
  std::chrono::milliseconds took{0};
  bool in_log = false;  // Its message is: what happens goes to the log at once.
  std::optional<tool::Outcome> outcome;
  std::string result_id;  // Of the event that answers it.
  CancelSource cancel;
  Pending<bool> ended;

  [[nodiscard]] CallFacts facts() const {
    return {.tool_call_id = block.tool_call_id, .tool = block.tool_name, .intent = intent};
  }
};

}  // namespace stet::agent
