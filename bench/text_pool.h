// TextPool: realistic text of any length, cut from one pool that is made once: prose, code, paths,
// CJK, emoji, line ends, quotes and backslashes. The same seed gives the same text. Read-only after
// its construction, so threads may share it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/random.h"

namespace stet::bench {

class TextPool {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  explicit TextPool(std::uint64_t seed);

  /// About `bytes` (at most kBytes / 2) of valid UTF-8 from a random place; lives as long as the
  /// pool.
  [[nodiscard]] std::string_view Take(Random& random, std::size_t bytes) const;

  /// `bytes` of arbitrary content, not valid as UTF-8.
  static std::string Binary(Random& random, std::size_t bytes);

 private:
  std::string text_;
};

/// A size between `least` and `most`, small ones being as common as large ones: every doubling is
/// equally likely.
std::size_t SkewedSize(Random& random, std::size_t least, std::size_t most);

}  // namespace stet::bench
