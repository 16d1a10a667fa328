// The engine of our own: RE2, whose time is linear in the text whatever the pattern.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include "base/utf8.h"
#include "tool/excluded.h"
#include "tool/grep.h"
#include "tool/text_file.h"
#include "tool/walk.h"

namespace stet::tool {

namespace {

constexpr std::int64_t kRegexMemory = std::int64_t{64} << 20;

struct FileType {
  std::string_view name;
  std::string_view glob;
};

constexpr FileType kTypes[] = {
    {"c", "*.{c,h}"},
    {"cmake", "{*.cmake,CMakeLists.txt}"},
    {"cpp", "*.{cc,cpp,cxx,h,hh,hpp,hxx,inl}"},
    {"cs", "*.cs"},
    {"css", "*.{css,scss}"},
    {"go", "*.go"},
    {"html", "*.{htm,html}"},
    {"java", "*.java"},
    {"js", "*.{js,jsx,mjs,cjs,vue}"},
    {"json", "*.json"},
    {"kotlin", "*.{kt,kts}"},
    {"lua", "*.lua"},
    {"markdown", "*.{markdown,md,mdx}"},
    {"md", "*.{markdown,md,mdx}"},
    {"php", "*.php"},
    {"py", "*.{py,pyi}"},
    {"ruby", "{*.rb,*.gemspec,Gemfile,Rakefile}"},
    {"rust", "*.rs"},
    {"sh", "*.{sh,bash,zsh}"},
    {"sql", "*.sql"},
    {"swift", "*.swift"},
    {"toml", "*.toml"},
    {"ts", "*.{ts,tsx,mts,cts}"},
    {"txt", "*.txt"},
    {"xml", "*.{xml,xsd,xslt}"},
    {"yaml", "*.{yaml,yml}"},
};

Result<std::optional<Glob>> GlobOfType(const std::string& type) {
  if (type.empty()) return std::nullopt;
  const auto* const known = std::ranges::find(kTypes, type, &FileType::name);
  if (known == std::end(kTypes)) {
    std::string names;
    for (const FileType& one : kTypes) (names += names.empty() ? "" : ", ") += one.name;
    return Fail(Code::kInvalid,
                fmt::format("The type {} is not known. Known are {}. Or use glob.", type, names));
  }
  ASSIGN_OR_RETURN(Glob glob, Glob::Parse(known->glob));
  return glob;
}

/// From..to, both included, 0-based; in order.
using Hits = std::vector<std::pair<std::size_t, std::size_t>>;

class Matcher {
 public:
  static Result<std::unique_ptr<Matcher>> Make(const GrepQuery& query) {
    auto matcher = std::make_unique<Matcher>(query);
    if (matcher->regex_.ok()) return matcher;
    return Fail(Code::kInvalid,
                fmt::format("The pattern is not a regular expression that can be used: {}. Escape "
                            "special characters with \\.",
                            matcher->regex_.error()));
  }

  explicit Matcher(const GrepQuery& query)
      : multiline_(query.multiline),
        // "\A" and "\z" mean a line's ends when lines are looked at one by one.
        whole_first_(query.pattern.find("\\A") == std::string::npos &&
                     query.pattern.find("\\z") == std::string::npos),
        regex_("(?m:" + query.pattern + ")", OptionsOf(query)) {}

  /// The lines of `text` where it matches.
  [[nodiscard]] Hits Find(const std::string& text,
                          const std::vector<std::string_view>& lines) const {
    if (whole_first_ && !RE2::PartialMatch(text, regex_)) return {};
    if (multiline_) return FindAcross(text);
    Hits hits;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (RE2::PartialMatch(Piece(lines[i]), regex_)) hits.emplace_back(i, i);
    return hits;
  }

 private:
  static RE2::Options OptionsOf(const GrepQuery& query) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_case_sensitive(!query.ignore_case);
    options.set_dot_nl(query.multiline);
    options.set_max_mem(kRegexMemory);
    return options;
  }
  static re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

  [[nodiscard]] Hits FindAcross(const std::string& text) const {
    Hits hits;
    std::size_t at = 0;
    std::size_t line = 0;
    std::size_t counted = 0;  // Up to here `line` is right.
    re2::StringPiece match;
    const auto line_of = [&](std::size_t place) {
      line += static_cast<std::size_t>(
          std::count(text.begin() + static_cast<std::ptrdiff_t>(counted),
                     text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
      counted = place;
      return line;
    };
    while (at <= text.size() && regex_.Match(text, at, text.size(), RE2::UNANCHORED, &match, 1)) {
      const auto start = static_cast<std::size_t>(match.data() - text.data());
      const std::size_t end = start + match.size();
      if (start == text.size() && !text.empty()) break;
      const std::size_t first = line_of(start);
      const std::size_t last = line_of(match.empty() ? start : end - 1);
      if (!hits.empty() && first <= hits.back().second)
        hits.back().second = std::max(hits.back().second, last);
      else
        hits.emplace_back(first, last);
      at = std::max(end, start + 1);
    }
    return hits;
  }

  bool multiline_;
  bool whole_first_;
  RE2 regex_;
};

class Grep {
 public:
  Grep(const GrepQuery& query, const Matcher& matcher) : query_(query), matcher_(matcher) {}

  /// False when there is enough.
  bool TakeFile(const std::string& path) {
    auto file = ReadRegularFile(query_.folder + "/" + path, kMaxTextBytes);
    if (!file) return true;
    const TextFile decoded = DecodeText(file->bytes);
    if (decoded.binary) return true;
    const std::string text = ToLf(decoded.text);
    const std::vector<std::string_view> lines = SplitLines(text);
    const Hits hits = matcher_.Find(text, lines);
    if (!hits.empty() && !IsExcludedElsewhere(path)) Render("./" + path, lines, hits);
    return static_cast<std::int64_t>(result_.lines.size()) <= query_.max_lines;
  }

  GrepResult TakeResult() { return std::move(result_); }

 private:
  /// Whether another name of a file that was found, and not named, is excluded. Those are looked
  /// for when the first file with several names has a match.
  bool IsExcludedElsewhere(const std::string& path) {
    if (!query_.exclude || !query_.file.empty()) return false;
    struct stat facts{};
    const std::string whole = query_.folder + "/" + path;
    if (::stat(whole.c_str(), &facts) != 0 || facts.st_nlink < 2) return false;
    if (!excluded_) excluded_ = ExcludedWithOtherNames(query_.project, *query_.exclude);
    return excluded_->contains({facts.st_dev, facts.st_ino});
  }

  void Render(const std::string& path, std::span<const std::string_view> lines, const Hits& hits) {
    if (query_.mode == GrepMode::kFiles) {
      result_.lines.push_back(path);
    } else if (query_.mode == GrepMode::kCount) {
      std::size_t count = 0;
      for (const auto& [from, to] : hits) count += to - from + 1;
      result_.lines.push_back(fmt::format("{}:{}", path, count));
    } else {
      RenderContent(path, lines, hits);
    }
  }

  void RenderContent(const std::string& path, std::span<const std::string_view> lines,
                     const Hits& hits) {
    const auto before = static_cast<std::size_t>(query_.before);
    const auto after = static_cast<std::size_t>(query_.after);
    std::size_t next = 0;  // The first line that was not shown.
    bool first_group = true;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      const auto [from, to] = hits[i];
      if (from >= lines.size()) break;
      const std::size_t start = std::max(next, from - std::min(from, before));
      if ((before > 0 || after > 0) && (first_group ? !result_.lines.empty() : start > next))
        result_.lines.emplace_back("--");
      first_group = false;
      const std::size_t limit = i + 1 < hits.size() ? hits[i + 1].first : lines.size();
      const std::size_t end = std::min({to + 1 + after, std::max(limit, to + 1), lines.size()});
      for (next = start; next < end; ++next)
        AddLine(path, next, lines[next], from <= next && next <= to);
      if (static_cast<std::int64_t>(result_.lines.size()) > query_.max_lines) return;
    }
  }

  void AddLine(const std::string& path, std::size_t index, std::string_view line, bool is_hit) {
    const char sign = is_hit ? ':' : '-';
    const std::size_t length = Utf8PrefixLength(line, kMaxGrepColumns);
    std::string text = path;
    text += sign;
    if (query_.line_numbers) text += fmt::format("{}{}", index + 1, sign);
    text += line.substr(0, length);
    if (length < line.size()) text += " [cut]";
    result_.lines.push_back(std::move(text));
  }

  const GrepQuery& query_;
  const Matcher& matcher_;
  std::optional<std::set<FileId>> excluded_;  // With other names.
  GrepResult result_;
};

}  // namespace

Result<GrepResult> GrepHere(const GrepQuery& query, const CancelToken& cancel) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Matcher> matcher, Matcher::Make(query));
  ASSIGN_OR_RETURN(const std::optional<Glob> type, GlobOfType(query.type));
  const bool exclude = query.glob.starts_with('!');
  std::optional<Glob> glob;
  if (!query.glob.empty()) {
    ASSIGN_OR_RETURN(glob, Glob::Parse(std::string_view(query.glob).substr(exclude ? 1 : 0)));
  }
  Grep grep(query, *matcher);
  if (!query.file.empty()) {
    grep.TakeFile(query.file);
    return grep.TakeResult();
  }
  const WalkRoot root{query.folder, query.project, glob && !exclude ? &*glob : nullptr,
                      query.exclude.get()};
  RETURN_IF_ERROR(WalkFiles(root, cancel, [&](const std::string& path, bool is_link) {
    if (cancel.cancelled()) return false;
    if (is_link || (glob && glob->Matches(path) == exclude)) return true;
    if (type && !type->Matches(path)) return true;
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (std::ranges::any_of(query.secret_names,
                            [&](const std::string& pattern) { return MatchPart(pattern, name); }))
      return true;
    return grep.TakeFile(path);
  }));
  if (cancel.cancelled()) return Fail(Code::kCancelled, "cancelled");
  return grep.TakeResult();
}

}  // namespace stet::tool
