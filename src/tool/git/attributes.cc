#include "tool/git/attributes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "base/wildcard.h"

namespace stet::tool {
namespace {

using To = GitAttribute::To;

constexpr std::array<std::string_view, 3> kRewriting = {"filter", "ident", "working-tree-encoding"};
constexpr std::string_view kAttributeBlanks = " \t\r\n";
constexpr std::string_view kMacro = "[attr]";
/// git leaves out longer lines, or did not in its older versions.
constexpr std::size_t kMaxAttributeLine = 2048;
constexpr int kMaxMacroDepth = 20;

std::unexpected<Error> InDoubt(std::string_view line) {
  return Fail(Code::kInvalid, "it is not certain what git makes of " + std::string(line));
}

bool IsAttributeName(std::string_view name) {
  return !name.empty() && name[0] != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kAttributeBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kAttributeBlanks));
  line.remove_prefix(word.size());
  return word;
}

/// A pattern between quotes, with the escapes of C. Nothing when they have no end.
std::optional<std::string> TakeQuoted(std::string_view& line) {
  constexpr std::string_view kEscapes = "abfnrtv\\\"";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\\"";
  std::string text;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '"') {
      line.remove_prefix(at + 1);
      return text;
    }
    if (line[at] != '\\') {
      text += line[at];
      continue;
    }
    if (++at == line.size()) return std::nullopt;
    if (const std::size_t which = kEscapes.find(line[at]); which != std::string_view::npos) {
      text += kMeant[which];
      continue;
    }
    int value = 0;
    for (int digit = 0; digit < 3; ++digit, ++at) {
      if (at >= line.size() || line[at] < '0' || line[at] > '7') return std::nullopt;
      value = value * 8 + (line[at] - '0');
    }
    if (value > 0xFF) return std::nullopt;
    text += static_cast<char>(value);
    --at;
  }
  return std::nullopt;
}

/// Nothing when git leaves the line out because of one of them.
std::optional<std::vector<GitAttribute>> TakeAttributes(std::string_view line) {
  std::vector<GitAttribute> attributes;
  for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
    GitAttribute one;
    if (word[0] == '-' || word[0] == '!') {
      one.to = word[0] == '-' ? To::kUnset : To::kUnspecified;
      word.remove_prefix(1);
    } else if (word.contains('=')) {
      one.to = To::kValue;
    }
    one.name = word.substr(0, word.find('='));
    if (!IsAttributeName(one.name)) return std::nullopt;
    attributes.push_back(std::move(one));
  }
  return attributes;
}

/// What this matcher does not have as git's.
bool IsStrange(std::string_view pattern) {
  return pattern.contains("[:") || pattern.ends_with('\\') || pattern.contains("//") ||
         pattern.contains('\0') || (pattern.contains('[') && !pattern.contains(']'));
}

Status TakeLine(std::string_view line, bool macros, GitAttributeFile& file) {
  line.remove_prefix(std::min(line.find_first_not_of(kAttributeBlanks), line.size()));
  if (line.empty() || line[0] == '#') return {};
  if (line.size() >= kMaxAttributeLine || line.contains('\0')) return InDoubt("a line so long");
  std::string pattern;
  std::string_view rest = line;
  if (line[0] == '"') {
    const std::optional<std::string> quoted = TakeQuoted(rest);
    if (!quoted) return InDoubt(line);
    pattern = *quoted;
  } else {
    pattern = TakeWord(rest);
  }
  const std::optional<std::vector<GitAttribute>> attributes = TakeAttributes(rest);
  if (!attributes) return {};
  if (pattern.size() > kMacro.size() && pattern.starts_with(kMacro)) {
    const std::string name = pattern.substr(kMacro.size());
    if (macros && IsAttributeName(name)) file.macros.insert_or_assign(name, *attributes);
    return {};
  }
  // Patterns with "!" git leaves out; one for folders fits no file.
  if (pattern.starts_with('!') || pattern.ends_with('/') || attributes->empty()) return {};
  if (IsStrange(pattern)) return InDoubt(pattern);
  GitAttributeRule rule{.pattern = PatternParts(pattern),
                        .is_name = !pattern.contains('/'),
                        .attributes = *attributes};
  if (rule.pattern.empty()) return {};
  // All that is in a folder, and not the folder.
  if (rule.pattern.back() == "**" && !rule.is_name) rule.pattern.emplace_back("*");
  file.rules.push_back(std::move(rule));
  return {};
}

/// What attributes are, of the one path that is looked up: the first word counts.
class AttributeLookup {
 public:
  explicit AttributeLookup(const std::vector<const GitAttributeFile*>& files) : files_(files) {}

  void Take(const std::vector<GitAttribute>& attributes, int depth = 0) {
    if (depth > kMaxMacroDepth) {
      doubt_ = true;
      return;
    }
    for (auto one = attributes.rbegin(); one != attributes.rend(); ++one) {
      if (!said_.try_emplace(one->name, one->to).second || one->to != To::kSet) continue;
      const auto* macro = Macro(one->name);
      if (macro != nullptr) Take(*macro, depth + 1);
    }
  }

  [[nodiscard]] bool Applies() const {
    return doubt_ || std::ranges::any_of(kRewriting, [&](std::string_view name) {
             const auto said = said_.find(name);
             return said != said_.end() && (said->second == To::kSet || said->second == To::kValue);
           });
  }

 private:
  [[nodiscard]] const std::vector<GitAttribute>* Macro(const std::string& name) const {
    for (const GitAttributeFile* file : files_) {
      const auto found = file->macros.find(name);
      if (found != file->macros.end()) return &found->second;
    }
    return nullptr;
  }

  const std::vector<const GitAttributeFile*>& files_;
  std::map<std::string, To, std::less<>> said_;
  bool doubt_ = false;
};

void LowerRules(GitAttributeFile& file) {
  for (GitAttributeRule& rule : file.rules) {
    for (std::string& part : rule.pattern) part = Lower(part);
  }
}

}  // namespace

Result<GitAttributeFile> ParseGitAttributes(std::string_view text, bool macros) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  GitAttributeFile file;
  for (const std::string_view line : SplitLines(text))
    RETURN_IF_ERROR(TakeLine(line, macros, file));
  return file;
}

void GitAttributes::Settle() {
  std::vector<GitAttributeFile*> all = {&own_, &system_};
  for (GitAttributeFile& file : users_) all.push_back(&file);
  for (auto& [folder, file] : folders_) all.push_back(&file);
  const auto counts = [&](const GitAttribute& one) {
    return std::ranges::find(kRewriting, one.name) != kRewriting.end() ||
           std::ranges::any_of(all, [&](auto* file) { return file->macros.contains(one.name); });
  };
  any_ = !doubted_.empty();
  for (GitAttributeFile* file : all) {
    std::erase_if(file->rules, [&](const GitAttributeRule& rule) {
      return std::ranges::none_of(rule.attributes, counts);
    });
    any_ = any_ || !file->rules.empty();
    if (ignore_case_) LowerRules(*file);
  }
  if (users_.empty()) users_.emplace_back();
}

bool GitAttributes::Applies(const Files& files, const std::vector<std::string_view>& parts,
                            const std::vector<std::size_t>& depths) const {
  AttributeLookup lookup(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::vector<std::string_view> below(
        parts.begin() + static_cast<std::ptrdiff_t>(depths[i]), parts.end());
    for (auto rule = files[i]->rules.rbegin(); rule != files[i]->rules.rend(); ++rule) {
      const bool matches = rule->is_name ? MatchPart(rule->pattern.front(), below.back())
                                         : MatchPath(rule->pattern, below);
      if (matches) lookup.Take(rule->attributes);
    }
  }
  return lookup.Applies();
}

bool GitAttributes::Rewrites(std::string_view path) const {
  if (!any_) return false;
  for (const std::string& folder : doubted_) {
    if (folder.empty() ||
        (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/'))
      return true;
  }
  const std::string folded = ignore_case_ ? Lower(path) : std::string(path);
  const std::vector<std::string_view> parts = PathParts(folded);
  if (parts.empty()) return true;
  // The repository's own, then from the file's folder up to the top.
  Files files = {&own_};
  std::vector<std::size_t> depths = {0};
  std::string_view folder = path;
  for (std::size_t depth = parts.size(); depth-- > 0;) {
    const std::size_t slash = folder.rfind('/');
    folder = folder.substr(0, slash == std::string_view::npos ? 0 : slash);
    const auto found = folders_.find(folder);
    if (found == folders_.end()) continue;
    files.push_back(&found->second);
    depths.push_back(depth);
  }
  files.insert(files.end(), {nullptr, &system_});
  depths.insert(depths.end(), {0, 0});
  return std::ranges::any_of(users_, [&](const GitAttributeFile& user) {
    files[files.size() - 2] = &user;
    return Applies(files, parts, depths);
  });
}

}  // namespace stet::tool
