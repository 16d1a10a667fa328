#include "json/schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "json/schema/schema.h"

namespace stet {
namespace {

constexpr std::size_t kMaxPatternBytes = 1000;
constexpr std::int64_t kMaxPatternMemory = std::int64_t{1} << 20;

/// ECMAScript's "\u00e9" as RE2 writes it.
std::string InOurSyntax(std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '\\' || at + 1 == pattern.size()) {
      out += pattern[at];
      continue;
    }
    const std::string_view digits = pattern.substr(at + 2, 4);
    const bool code = pattern[at + 1] == 'u' && digits.size() == 4 &&
                      digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (code)
      ((out += "\\x{") += digits) += '}';
    else
      out += pattern.substr(at, 2);
    at += code ? 5 : 1;
  }
  return out;
}

}  // namespace

Result<SchemaPattern> CompilePattern(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes)
    return Fail(Code::kUnsupported, "a pattern of the schema is too large");
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxPatternMemory);
  auto regex = std::make_shared<const re2::RE2>(InOurSyntax(pattern), options);
  if (!regex->ok())
    return Fail(Code::kUnsupported,
                fmt::format("the schema has an unknown pattern: {}: {}", pattern, regex->error()));
  return SchemaPattern{std::string(pattern), std::move(regex)};
}

bool Matches(const SchemaPattern& pattern, std::string_view text) {
  return text.size() <= JsonSchema::kMaxPatternText &&
         re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *pattern.regex);
}

}  // namespace stet
