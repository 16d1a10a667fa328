// EwahBits: a set of numbers as git's index stores it, compressed by runs of words. Untrusted
// bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace stet::tool {

class EwahBits {
 public:
  /// Takes one off the front of `bytes`. Nothing when they make no sense.
  static std::optional<EwahBits> Take(std::string_view& bytes);

  /// Calls with each number of the set, in order. False when one is not below `limit`, after which
  /// it has stopped, or when the words make no sense.
  bool ForEach(std::size_t limit, const std::function<void(std::size_t)>& call) const;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace stet::tool
