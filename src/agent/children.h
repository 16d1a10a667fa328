// Children: how work is given to sessions of its own: what turns, teams and workflows see of it.
//
// A child is a session: its log has all that it did, under the agent's id, and lies in the folder
// of the session that it all began with. So a child outlives the process that opened it: what was
// sent to it is not lost, and another process can continue it.
//
// Belongs to the loop. The ids are those of sessions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/cancel.h"
#include "base/result.h"
#include "protocol/session.h"

namespace stet::agent {

/// A child to be. What is empty or absent is as its parent has it.
struct ChildSpec {
  std::string parent_id;
  std::string kind = "agent";
  std::string agent_id;                          // Stands in every event of its log.
  std::optional<std::string> task_id = {};       // Of the parent's task that it is.
  std::optional<std::string> tool_call_id = {};  // Of the parent's call that opened it.
  std::string cwd = {};
  std::string model = {};
  std::string mode = {};
  std::optional<std::vector<std::string>> tools = {};  // The only ones that it has; absent: all.
  std::string prompt;
};

/// What came of a child so far.
struct ChildEnd {
  std::string reason;      // One of ended::.
  std::string text;        // What its model said last.
  protocol::CostSum cost;  // Of all its turns.
};

class Children {
 public:
  virtual ~Children() = default;

  /// Makes the child and begins its first turn with the prompt, which is in its log by then. Gives
  /// its id. Whatever would be asked of a person in it is denied.
  virtual Async<Result<std::string>> Open(ChildSpec spec) = 0;
  /// Another message: it begins a turn, or follows the one that runs.
  virtual Async<Status> Send(std::string child_id, std::string text) = 0;
  /// Goes on with a turn that did not come to its end, as when the process died in it, under the
  /// rules that the parent has now. kNotFound when there is nothing to go on with.
  virtual Async<Status> Continue(std::string parent_id, std::string child_id) = 0;
  /// Ends when no turn of the child is under way, with what came of it; then the child is put to
  /// sleep, if it rests. kCancelled when the caller does not want to wait any longer: the child
  /// goes on.
  virtual Async<Result<ChildEnd>> Await(std::string child_id, CancelToken cancel) = 0;
  /// Ends the turn that runs, soon. Nothing, when none does.
  virtual void Cancel(const std::string& child_id) = 0;
};

}  // namespace stet::agent
