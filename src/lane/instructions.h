// LaneInstructions: the frozen instructions of a session. They are taken with its first message,
// and from then on they are what the log has.
//
// Owned by the lane.
#pragma once

#include <optional>
#include <string>

#include "agent/instructions.h"
#include "base/result.h"
#include "protocol/conversation.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::lane {

class LaneInstructions {
 public:
  /// `bench` outlives it, and has them rendered; `kept` is what the log has.
  LaneInstructions(agent::Workbench& bench, agent::InstructionSources sources,
                   std::optional<protocol::InstructionSnapshot> kept);

  /// Takes them, unless the log has them: with their pins and the toolset in one batch.
  Status Ensure();
  /// What the user appends to frozen instructions is told to the model as an item. True: it was.
  Result<bool> TellAppended();

 private:
  void Use();

  agent::Workbench& bench_;
  agent::InstructionSources sources_;
  std::optional<protocol::InstructionSnapshot> snapshot_;
};

}  // namespace stet::lane
