// Refusals: counts the calls of a turn that the rules refused. When there are too many, the user is
// asked, or the turn ends, instead of the model trying on.
#pragma once

#include <cstddef>

namespace stet::agent {

class Refusals {
 public:
  static constexpr std::size_t kInRow = 3;
  static constexpr std::size_t kInAll = 20;

  /// What the rules refused in one step, and whether anything else was done in it. True when it is
  /// time to ask the user; the counts then start again.
  bool TooMany(std::size_t refused, bool something_ran) {
    if (something_ran) in_row_ = 0;
    in_row_ += something_ran ? 0 : refused;
    in_all_ += refused;
    const bool many = in_row_ >= kInRow || in_all_ >= kInAll;
    if (many) in_row_ = in_all_ = 0;
    return many;
  }

 private:
  std::size_t in_row_ = 0;
  std::size_t in_all_ = 0;
};

}  // namespace stet::agent
