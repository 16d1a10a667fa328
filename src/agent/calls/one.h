// A call on its way to its result: what the files of Calls share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/calls/calls.h"
#include "agent/run/producers.h"
#include "agent/sandboxing.h"
#include "base/cancel.h"
#include "base/loop.h"

namespace stet::agent {

/// How many calls that only read run at a time.
inline constexpr std::size_t kMaxSideBySide = 8;

/// Where policy alone allowed a call, `tool_started` names it as the one that did.
inline constexpr std::string_view kByPolicy = "policy";

/// The result of a call that did not run.
tool::Outcome NotRun(std::string_view why);

/// Its members are in the order of the phases that set them.
struct Calls::One {
  One(Loop& loop, const CancelToken& parent) : cancel(parent), ended(loop) {}

  protocol::ToolCallBlock block;
  Raw args;  // The block's, or as an approver or a hook changed them.
  tool::Tool* tool = nullptr;
  tool::Intent intent;
  policy::Decision decision;
  std::uint64_t decided_at = 0;  // The last event of the log when policy decided.
  std::string by{kByPolicy};     // Or the client or hook that allowed it.
  Boxed box;
  protocol::ToolStarted started;
  std::chrono::steady_clock::time_point began;
  bool in_log = false;  // Its message is: what happens goes to the log at once.
  std::optional<tool::Outcome> outcome;
  std::chrono::milliseconds took{0};
  std::string result_id;  // Of the event that answers it.
  CancelSource cancel;
  Pending<bool> ended;

  [[nodiscard]] CallFacts facts() const {
    return {.tool_call_id = block.tool_call_id, .tool = block.tool_name, .intent = intent};
  }
};

}  // namespace stet::agent
