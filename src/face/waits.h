// Waits: what a face has asked and is not answered yet, for the row that says so.
//
// Belongs to the face's thread; nothing here fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "client/live.h"

namespace stet::face {

class Waits {
 public:
  /// What is answered sooner is not worth a word.
  static constexpr std::chrono::milliseconds kUnsaid{300};

  /// `clock` outlives it.
  explicit Waits(const Clock& clock) : clock_(clock) {}

  /// `what` is asked now, in a word or two; End is called with what this gives.
  std::uint64_t Begin(std::string_view what);
  void End(std::uint64_t wait) { open_.erase(wait); }

  [[nodiscard]] bool empty() const { return open_.empty(); }
  /// Something has waited for so long that it is said.
  [[nodiscard]] bool long_ones() const;
  /// What has waited for longest, and for how long; empty while there is no long wait.
  [[nodiscard]] std::string Row() const;
  /// The same, before it how the line to the host is when that is not well.
  [[nodiscard]] std::string Row(const client::Link& link) const;

 private:
  struct Wait {
    std::string what;
    std::chrono::steady_clock::time_point since;
  };

  [[nodiscard]] std::int64_t SecondsSince(std::chrono::steady_clock::time_point then) const;

  const Clock& clock_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Wait> open_;  // The first has waited for longest.
};

}  // namespace stet::face
