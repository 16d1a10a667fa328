#include "protocol/limits.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "json/view.h"

namespace stet::protocol {
namespace {

constexpr std::size_t kMaxQuote = 64;

std::string Listed(std::string_view words) { return Replaced(words, " ", ", "); }

Status CheckWord(const Limit& limit, const std::string& word) {
  if (limit.words.empty() || (word.empty() && !limit.required) || IsOneOf(word, limit.words))
    return {};
  return Fail(Code::kInvalid, fmt::format("{}: \"{}\" is none of {}", limit.member,
                                          word.substr(0, kMaxQuote), Listed(limit.words)));
}

Status CheckNumber(const Limit& limit, std::int64_t number) {
  if (number < limit.least)
    return Fail(Code::kInvalid, fmt::format("{} must be at least {}", limit.member, limit.least));
  if (number > limit.most)
    return Fail(Code::kInvalid, fmt::format("{} must be at most {}", limit.member, limit.most));
  return {};
}

Status CheckOne(const Limit& limit, const JsonView& value) {
  if (!value || value.is_null()) {
    if (!limit.required) return {};
    return Fail(Code::kInvalid, limit.words.empty()
                                    ? fmt::format("{} is missing", limit.member)
                                    : fmt::format("{} is missing: it is one of {}", limit.member,
                                                  Listed(limit.words)));
  }
  if (value.is_string()) return CheckWord(limit, value.StringOr(""));
  if (const std::optional<std::int64_t> number = value.Int()) return CheckNumber(limit, *number);
  return {};
}

}  // namespace

bool IsOneOf(std::string_view word, std::string_view words) {
  if (word.empty() || word.contains(' ')) return false;
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) return true;
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

Status CheckLimits(std::span<const Limit> limits, std::string_view object_json) {
  if (limits.empty()) return {};
  const JsonView object(object_json);
  for (const Limit& limit : limits) RETURN_IF_ERROR(CheckOne(limit, object[limit.member]));
  return {};
}

}  // namespace stet::protocol
