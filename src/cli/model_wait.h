// ModelWait: what a command that prints one answer says while nothing comes from the model: what it
// waits for and how long it has, from the third second on, then ever more seldom.
//
// Pure: time is an argument.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "protocol/transient.h"

namespace stet::cli {

class ModelWait {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Whether Hear makes anything of such a transient.
  static bool Knows(const protocol::Transient& transient);
  void Hear(const protocol::Transient& transient, Time now);

  /// How long until there is something to say, not negative; absent while nothing is waited for.
  [[nodiscard]] std::optional<std::chrono::milliseconds> UntilWord(Time now) const;
  /// What to say now, once; empty when it is too early.
  std::string Word(Time now);

 private:
  std::optional<Time> since_;  // Absent: nothing is waited for.
  std::string why_;            // What went wrong meanwhile.
  Time next_;                  // When there is something to say.
};

}  // namespace stet::cli
