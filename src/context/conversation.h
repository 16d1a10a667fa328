// Conversation: the path of a session as a model is shown it. A projection of events: the same log
// gives the same entries, and appending events never changes what was made of those before.
//
// It remembers what it made of the path, so that a step costs what is new. Owned by the session's
// lane.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "log/log.h"
#include "provider/request.h"

namespace stet::context {

/// A reminder that goes into the result before it.
struct MergedReminder {
  std::string text;
};
/// What one event is to a model.
using Piece = std::variant<provider::UserInput, provider::AssistantTurn, provider::ToolResult,
                           MergedReminder>;

class Conversation {
 public:
  /// Brings the entries up to the log's leaf, or to `leaf`, as if it were that.
  Status Update(const log::Log& log);
  Status Update(const log::Log& log, log::Ordinal leaf);

  /// Of a path that is in no log.
  static Conversation Of(std::span<const protocol::Event> path);

  /// Begins with the user. Behind a turn with calls stand their results, in the order of the calls;
  /// what is lost is said in words. Nothing that a user is said to have said is empty.
  [[nodiscard]] std::vector<provider::Entry> Entries() const;

  /// The same without copying what stood there before the last turn: lent until TakeBack. What is
  /// not given back is made again.
  std::vector<provider::Entry> Lend();
  void TakeBack(std::vector<provider::Entry> entries);

 private:
  struct Made {
    log::Ordinal event;
    std::size_t pieces_before;  // How many pieces there were before this event.
  };

  void Take(const protocol::Event& event);
  void TakeItem(const protocol::HarnessItem& item);
  void TakeCompact(const protocol::Compact& compact);

  std::vector<Made> made_;
  std::vector<Piece> pieces_;
  std::vector<provider::Entry> settled_;  // What the pieces before the last turn came to.
  std::size_t settled_pieces_ = 0;
  std::size_t settled_entries_ = 0;
  bool lent_ = false;
};

}  // namespace stet::context
