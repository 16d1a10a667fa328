// GitAttributes: whether git may hold something else than what is in a file, as the attributes of a
// path say: whether `filter`, `ident` or `working-tree-encoding` applies to it. Attribute files are
// read as git reads them, macros included; nothing is run. Pure; untrusted texts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::tool {

struct GitAttribute {
  enum class To { kSet, kUnset, kUnspecified, kValue };
  std::string name;
  To to = To::kSet;

  friend bool operator==(const GitAttribute&, const GitAttribute&) = default;
};

struct GitAttributeRule {
  std::vector<std::string> pattern;  // Its parts; of a name alone just one.
  bool is_name = false;              // It has no slash: the last part of a path is meant.
  std::vector<GitAttribute> attributes;

  friend bool operator==(const GitAttributeRule&, const GitAttributeRule&) = default;
};

/// What one file says.
struct GitAttributeFile {
  std::vector<GitAttributeRule> rules;
  std::map<std::string, std::vector<GitAttribute>> macros;
};

/// kInvalid when it cannot be told what git makes of it. `macros`: it is a file that may define
/// some; in others git leaves these lines out.
Result<GitAttributeFile> ParseGitAttributes(std::string_view text, bool macros);
inline constexpr std::size_t kMaxGitAttributes = std::size_t{1} << 20;

class GitAttributes {
 public:
  /// `ignore_case`: paths match in either case.
  explicit GitAttributes(bool ignore_case) : ignore_case_(ignore_case) {}

  /// The files in which all paths are looked up: one that the repository has of its own, the
  /// user's, and the system's, in the order of precedence. The user's may be one of several; then
  /// any of them counts.
  void SetOwn(GitAttributeFile file) { own_ = std::move(file); }
  void AddUsers(GitAttributeFile file) { users_.push_back(std::move(file)); }
  void SetSystem(GitAttributeFile file) { system_ = std::move(file); }
  /// The file in a folder of the repository ("" is its top).
  void AddFolder(const std::string& folder, GitAttributeFile file) {
    folders_.insert_or_assign(folder, std::move(file));
  }
  /// Of all paths in a folder it cannot be told.
  void Doubt(const std::string& folder) { doubted_.push_back(folder); }
  /// When all was added.
  void Settle();

  /// Whether something applies to the path, from the top of the repository, or may.
  [[nodiscard]] bool Rewrites(std::string_view path) const;

 private:
  using Files = std::vector<const GitAttributeFile*>;
  [[nodiscard]] bool Applies(const Files& files, const std::vector<std::string_view>& parts,
                             const std::vector<std::size_t>& depths) const;

  bool ignore_case_;
  bool any_ = true;  // Some line could make something apply.
  GitAttributeFile own_;
  std::vector<GitAttributeFile> users_;
  GitAttributeFile system_;
  std::map<std::string, GitAttributeFile, std::less<>> folders_;
  std::vector<std::string> doubted_;
};

}  // namespace stet::tool
