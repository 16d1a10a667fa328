// The difference of two texts by lines, as people read it: hunks with three lines of context.
// Pure; bounded in work: texts that differ in more than a thousand places are one large hunk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace stet::tool {

/// Lines [before, before_end) became [after, after_end); 0-based.
struct LineChange {
  std::size_t before = 0;
  std::size_t before_end = 0;
  std::size_t after = 0;
  std::size_t after_end = 0;

  friend bool operator==(const LineChange&, const LineChange&) = default;
};

/// In order, apart from each other.
std::vector<LineChange> DiffLines(const std::vector<std::string_view>& before,
                                  const std::vector<std::string_view>& after);

/// What changed in one file. The texts must outlive it.
class FileDiff {
 public:
  /// Texts with "\n" line ends.
  FileDiff(std::string_view before, std::string_view after);

  [[nodiscard]] std::int64_t added() const;
  [[nodiscard]] std::int64_t removed() const;
  /// A unified diff without file names; cut, with a note, after about `max_bytes`.
  [[nodiscard]] std::string Unified(std::size_t max_bytes) const;
  /// The new text around the changes, with line numbers; no more than `max_lines`.
  [[nodiscard]] std::string Excerpt(std::size_t max_lines) const;
  /// {"added":1,"removed":2,"diff":"..."}, for faces.
  [[nodiscard]] Raw Details() const;

 private:
  std::vector<std::string_view> before_;
  std::vector<std::string_view> after_;
  std::vector<LineChange> changes_;
};

}  // namespace stet::tool
