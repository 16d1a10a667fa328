// SessionPlayer: appends to a log what a host appends while a user works with a model: turns of
// messages, parallel tool calls whose results finish in any order, blobs, queues, permissions, file
// facts, compactions, rewinds and branches.
//
// One Step is one call of the log: usually a small batch. After a failed step (no room) the next
// one tries the same again. A log whose last step has calls without a result is taken up there. The
// same random numbers on the same log give the same session. Owned by one thread; fails as the log
// does.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "bench/text_pool.h"
#include "log/log.h"

namespace stet::bench {

struct PlayerOptions {
  std::size_t least_text = 400;  // Of a message or a tool result, in bytes.
  std::size_t most_text = 28000;
  std::size_t most_calls = 4;       // In one assistant message.
  std::uint64_t blob_one_in = 150;  // Tool results; 0: never.
  std::uint64_t effects_one_in =
      500;                            // Calls; each costs a flush, also when durability is relaxed.
  std::uint64_t rewind_one_in = 40;   // Turns. Every fourth of them is a branch back.
  std::uint64_t compact_one_in = 50;  // Turns.
  std::uint64_t queue_one_in = 12;    // Turns.
};

class SessionPlayer {
 public:
  /// All four must outlive the player.
  SessionPlayer(log::Log& log, Random& random, const TextPool& pool, PlayerOptions options);

  Result<log::Appended> Step();

 private:
  using Batch = std::vector<log::Draft>;

  Result<log::Appended> MoveLeaf();
  Status Plan();
  void PlanTurn();
  Status PlanModelStep();
  void PlanTurnEnd();
  Status PlanResults(std::vector<std::string> calls);
  Result<log::Draft> ToolResult(const std::string& call);
  log::Draft Control(const std::string& call);
  [[nodiscard]] std::string Text(std::size_t least, std::size_t most);
  [[nodiscard]] bool OneIn(std::uint64_t n) { return n > 0 && random_.Below(n) == 0; }
  log::Draft Stamped(protocol::Payload payload);

  log::Log& log_;
  Random& random_;
  const TextPool& pool_;
  PlayerOptions options_;
  std::deque<Batch> planned_;
  std::string turn_id_;
  std::uint64_t steps_left_ = 0;  // Model steps of the current turn.
  bool in_turn_ = false;
  bool move_leaf_ = false;                  // The next step is a rewind or a branch.
  std::deque<std::string> rest_points_;     // Ends of the last turns on this path.
  std::optional<std::string> left_behind_;  // A leaf that a rewind left.
};

}  // namespace stet::bench
