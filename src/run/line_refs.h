// Lines of a file by what stands in them, so that they are found again when they moved. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/run_report.h"

namespace stet::run {

class LineTable {
 public:
  static constexpr std::size_t kMaxRefs = 8;  // Of one file; further ranges are left out.

  /// `bytes` must outlive this.
  explicit LineTable(std::string_view bytes);

  /// References to these lines. A range that goes beyond the end is cut to it.
  [[nodiscard]] protocol::RunRefs Refs(
      std::span<const std::pair<std::int64_t, std::int64_t>> ranges) const;

  enum class Place { kSame, kElsewhere, kLost };
  /// Whether the referenced lines still stand where they stood, or in exactly one other place.
  [[nodiscard]] Place Find(const protocol::RunRef& ref) const;

 private:
  [[nodiscard]] std::string HashOf(std::size_t first, std::size_t count) const;

  std::vector<std::string_view> lines_;
  std::vector<std::uint64_t> sums_;  // Of the fast hashes of all lines before; one more at the end.
};

}  // namespace stet::run
