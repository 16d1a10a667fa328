// Intake: what is taken of a tar or a JSONL that somebody brings, streamed into a folder of ours.
//
// Only plain files with the names of a session are written (events.jsonl, summary.json, blobs and
// agents), whatever else there is. A log is bounded in bytes, lines, values and the length of a
// line, and all together in bytes and files, so that no file can cost more memory or disk than a
// session may: beyond that it fails with kInvalid, and the folder is the caller's to remove.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"

namespace stet::store {

struct IntakeLimits {
  std::uint64_t all_bytes = std::uint64_t{8} << 30;
  std::uint64_t files = 100'000;
  std::uint64_t log_bytes = std::uint64_t{2} << 30;
  std::uint64_t log_lines = 500'000;
  std::uint64_t line_bytes = std::uint64_t{15} << 20;
  // Values of JSON: a few bytes each in a file, many times that in memory.
  std::uint64_t line_values = 100'000;
  std::uint64_t log_values = 10'000'000;
  std::uint64_t summary_bytes = std::uint64_t{1} << 20;
};

/// What was not taken.
struct LeftOut {
  static constexpr std::size_t kNamed = 5;

  void Add(std::string name);

  std::uint64_t count = 0;
  std::set<std::string> names;  // The first ones in their order.
};

/// The tar in the file at `path`; gives what was not taken.
Result<LeftOut> TakeTar(const std::string& path, const std::string& into,
                        const IntakeLimits& limits = {});

/// A log alone, as `into`/events.jsonl.
Status TakeJsonl(const std::string& path, const std::string& into, const IntakeLimits& limits = {});

}  // namespace stet::store
