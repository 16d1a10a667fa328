// Turn: from one user submission until the model rests. The loop: ask the model, run what it calls,
// append what happened, ask again.
//
// Append, then publish, then act: the user's message is flushed before the model is asked, a call
// with effects starts only when its `tool_started` is flushed, and a result is in the log before
// the model sees it. Every call has a result, whatever happens.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/instructions.h"
#include "base/cancel.h"
#include "base/loop.h"
#include "context/conversation.h"
#include "log/log.h"
#include "policy/policy.h"
#include "provider/provider.h"
#include "tool/registry.h"

namespace stet::agent {

/// Why a turn ended, as the log spells it.
namespace ended {
inline constexpr std::string_view kCompleted = "completed";
inline constexpr std::string_view kCancelled = "cancelled";
inline constexpr std::string_view kMaxTurns = "max_turns";
inline constexpr std::string_view kRefused = "refused";
inline constexpr std::string_view kOverflow = "overflow";
inline constexpr std::string_view kError = "error";
}  // namespace ended

struct Denial {
  std::string tool;
  std::string tool_call_id;
  Raw args;
  std::string rule;
};

struct TurnEnd {
  std::string reason;  // One of ended::.
  std::string error;   // For people, when it ended badly.
  std::optional<provider::FailureKind> failure;
  int steps = 0;
  std::string text;  // What the model said last.
  std::vector<Denial> denials;
};

/// What a session's turns work with. All of it outlives them.
struct Workbench {
  Loop& loop;
  log::Log& log;
  provider::Provider& model;
  tool::Registry& tools;
  tool::Workspace& workspace;
  policy::Rules rules;
  InstructionSources instructions;
  std::optional<std::string> effort;
  int max_steps = 0;  // 0: no limit.
};

class Turn {
 public:
  Turn(Workbench& bench, CancelToken cancel);

  [[nodiscard]] const std::string& id() const { return *stamp_.turn_id; }

  /// Fails only when the log cannot be written; whatever else goes wrong is in the end.
  Task<Result<TurnEnd>> Run(protocol::Blocks content);

 private:
  class StreamSink;

  Status Begin(protocol::Blocks content);
  Status Finish(TurnEnd& end);
  Result<provider::Request> BuildRequest();
  Task<Status> Step(TurnEnd& end, bool& rests);
  Status Keep(const provider::CallResult& call, const std::string& event_id);
  Status Recover(const provider::CallResult& call, TurnEnd& end, bool& rests);
  Task<Status> RunCalls(const protocol::Blocks& blocks, TurnEnd& end);
  Task<Status> RunCall(const protocol::ToolCallBlock& block, TurnEnd& end);
  Task<Status> Execute(tool::Tool& tool, const protocol::ToolCallBlock& block,
                       const tool::Intent& intent, const policy::Decision& decision);
  Status Answer(const std::string& tool_call_id, const tool::Outcome& outcome);
  Status Remind(std::string_view kind, std::string_view text);
  Status Append(protocol::Payload payload, const std::string& id = "");
  Status LearnFiles();

  Workbench& bench_;
  CancelToken cancel_;
  context::Conversation conversation_;
  tool::KnownFiles files_;
  protocol::Stamp stamp_;
  std::vector<std::string> system_;
  int continuations_ = 0;  // In a row.
};

}  // namespace stet::agent
