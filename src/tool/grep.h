// Grep's two engines: ripgrep when it is installed, and one of our own. Both give the same lines in
// the same order. They block: for threads, not for the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/ignore.h"
#include "base/result.h"

namespace stet::tool {

enum class GrepMode { kFiles, kContent, kCount };

struct GrepQuery {
  std::string pattern;                        // A regular expression.
  std::string folder;                         // Where to search, a real path.
  std::string file;                           // Not empty: only this file of the folder.
  std::string project;                        // A real path; see walk.h.
  std::shared_ptr<const IgnoreFile> exclude;  // Files that are not searched. May be null.
  std::vector<std::string> secret_names;      // Nor are those of such names, below a folder.
  std::string glob;  // Not empty: files that match or, behind a "!", do not.
  std::string type;  // Not empty: files of this kind.
  GrepMode mode = GrepMode::kFiles;
  std::int64_t before = 0;  // Lines of context.
  std::int64_t after = 0;
  bool ignore_case = false;
  bool line_numbers = true;
  bool multiline = false;
  std::int64_t max_lines = 1000;  // No more are needed.
};

struct GrepResult {
  /// Paths are relative to the folder and begin with "./". "./a", "./a:3" (count), "./a:12:text",
  /// "./a-13-text" (context), "--" (between groups of lines).
  std::vector<std::string> lines;
  std::string note;  // What was left out, for the model.
};

/// Cut behind as many bytes.
inline constexpr std::size_t kMaxGrepColumns = 500;

/// kInvalid when the pattern, glob or type is none.
Result<GrepResult> GrepHere(const GrepQuery& query, const CancelToken& cancel);
/// `program` is ripgrep's path.
Result<GrepResult> GrepWithRipgrep(const std::string& program, const GrepQuery& query,
                                   const CancelToken& cancel);

/// The path of ripgrep on PATH; empty when it is not installed.
std::string FindRipgrep();

}  // namespace stet::tool
