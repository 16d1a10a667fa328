// Progress: whether the steps of a turn still bring anything new. Repetition alone is not the sign:
// running the same test after each edit gives other results. Steps whose every call gave exactly
// what the same call gave before are.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

namespace stet::agent {

class Progress {
 public:
  static constexpr int kStepsBeforeAsking = 8;

  /// What the calls of one step were and gave. True when so many steps in a row brought nothing new
  /// that the user, or else the model, should be told; the count then starts again.
  bool Stalls(const std::vector<std::string>& findings);
  /// The last step brought something new.
  [[nodiscard]] bool moved() const { return nothing_new_ == 0; }

 private:
  std::unordered_set<std::string> seen_;
  int nothing_new_ = 0;
};

}  // namespace stet::agent
