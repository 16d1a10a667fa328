// LaneTurns: what the parts of a lane may know of its life and its turns, and ask for. LaneWork
// implements it.
#pragma once

#include <functional>

#include "base/result.h"

namespace stet::protocol {
struct Stamp;
}

namespace stet::lane {

enum class LaneLife {
  kOpening,  // What the log was left in the middle of is settled; nothing is taken yet.
  kIdle,     // No turn is under way: a message begins one.
  kWorking,  // A turn is under way: a message is queued.
  kWaiting,  // An earlier process's turn goes on: no message is taken while what it asked is open.
  kClosing,  // What runs is being ended, and no turn follows.
};

class LaneTurns {
 public:
  /// Appends what a turn begins with, stamped as that turn.
  using Beginning = std::function<Status(const protocol::Stamp&)>;

  virtual ~LaneTurns() = default;

  /// A turn is under way, or waits for an answer: nothing but what belongs to it joins the tree.
  [[nodiscard]] virtual bool working() const = 0;
  /// Whether what is owed to the model may begin a turn now.
  [[nodiscard]] virtual bool MayBegin() const = 0;
  /// Begins a turn with what `beginning` appends, and runs it. Fails as `beginning` does; then
  /// there is no turn.
  virtual Status Begin(const Beginning& beginning) = 0;

  /// kBusy while a turn is under way.
  [[nodiscard]] Status AtRest() const {
    if (!working()) return {};
    return Fail(Code::kBusy, "a turn is under way: cancel it first, or wait for its end");
  }
};

}  // namespace stet::lane
