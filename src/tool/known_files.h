// KnownFiles: what the model knows of files, folded from file facts: of each file the version last
// read, and which of its lines. A file may be changed only when its current version was read whole
// enough, and not changed outside since. A plain value; belongs to one thread; nothing here fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "protocol/work.h"

namespace stet::tool {

/// Lines from..to, 1-based, both included; in order, apart from each other.
using Lines = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct KnownFile {
  std::string hash;  // SHA-256 of the content that was read.
  Lines lines;
  std::int64_t total_lines = 0;  // Negative: it was not shown as lines (an image).
  [[nodiscard]] bool whole() const { return Covers(1, total_lines); }
  /// True as well when `to` is before `from`, unless it was not shown as lines.
  [[nodiscard]] bool Covers(std::int64_t from, std::int64_t to) const;
};

class KnownFiles {
 public:
  /// Any file fact whose call is on the path, in order. A write makes its content known whole,
  /// unless it carries a coverage: the lines known before it, as they lie after it.
  void Learn(const protocol::FileFact& fact);

  /// Null when the file was never read.
  [[nodiscard]] const KnownFile* Find(const std::string& path) const;

  /// The coverage member of a fact: {"lines":[[1,20]],"total":20}.
  static Raw Coverage(const Lines& lines, std::int64_t total);

 private:
  std::unordered_map<std::string, KnownFile> files_;
};

}  // namespace stet::tool
