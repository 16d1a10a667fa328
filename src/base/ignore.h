// IgnoreRules: what the .gitignore files of a tree say. A value; nothing here fails: a line that
// makes no sense matches nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stet {

/// The rules of one .gitignore file.
class IgnoreFile {
 public:
  explicit IgnoreFile(std::string_view text);

  enum class Verdict { kNothing, kIgnored, kKept };
  /// The last rule that matches decides. `path` has its parts relative to the folder of the file.
  [[nodiscard]] Verdict Judge(const std::vector<std::string_view>& path, bool is_dir) const;

  /// Whether `path`, relative to the folder of the file, is ignored, or a folder that it is in.
  [[nodiscard]] bool Covers(std::string_view path) const;
  [[nodiscard]] bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    std::vector<std::string> parts;
    bool keeps = false;      // It began with "!".
    bool dirs_only = false;  // It ended with "/".
  };
  std::vector<Rule> rules_;
};

}  // namespace stet
