// Pairing: puts the pieces of a path into the order that every model wants.
//
// What it gives begins with the user; behind a turn with calls stand their results, in the order of
// the calls; what is lost is said in words; nothing that a user is said to have said is empty. What
// was put out never changes by what follows, but for the results of the last turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "context/piece.h"

namespace stet::context {

class Pairing {
 public:
  /// Goes on behind `before`.
  explicit Pairing(std::vector<provider::Entry> before = {}) : out_(std::move(before)) {}

  void Add(Piece piece);
  std::vector<provider::Entry> Finish() &&;

 private:
  struct Call {
    std::string id;
    std::optional<provider::ToolResult> result;
  };
  enum class Last { kOther, kResult, kStray };

  void AddResult(provider::ToolResult result);
  void Merge(const std::string& reminder);
  void AddInput(provider::UserInput input);
  void AddTurn(provider::AssistantTurn turn);
  void Settle();

  std::vector<provider::Entry> out_;
  std::vector<Call> calls_;  // Of the last turn, until something else follows.
  std::vector<provider::UserInput> strays_;
  Last last_ = Last::kOther;  // What was added last.
};

}  // namespace stet::context
