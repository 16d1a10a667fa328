#include "hook/matcher.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

namespace stet::hook {
namespace {

constexpr std::int64_t kMaxPatternMemory = std::int64_t{1} << 20;

bool IsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

Result<Matcher> Matcher::From(std::string_view text) {
  Matcher matcher;
  if (text.empty() || text == "*") return matcher;
  if (std::ranges::all_of(text, [](char c) { return IsName(c) || c == '|'; })) {
    while (true) {
      const std::size_t bar = text.find('|');
      matcher.names_.emplace_back(text.substr(0, bar));
      if (bar == std::string_view::npos) return matcher;
      text.remove_prefix(bar + 1);
    }
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto pattern =
      std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!pattern->ok())
    return Fail(Code::kInvalid,
                fmt::format("{} is no regular expression: {}", text, pattern->error()));
  matcher.pattern_ = std::move(pattern);
  return matcher;
}

bool Matcher::Matches(std::string_view subject) const {
  if (pattern_)
    return re2::RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), *pattern_);
  return names_.empty() || std::ranges::find(names_, subject) != names_.end();
}

}  // namespace stet::hook
