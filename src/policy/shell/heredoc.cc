#include "policy/shell/heredoc.h"

#include <algorithm>

namespace stet::policy {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNames =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
constexpr std::string_view kPaths =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789./-";

std::size_t Skip(std::string_view line, std::size_t at, std::string_view chars) {
  return std::min(line.find_first_not_of(chars, at), line.size());
}

/// Where `<<E`, `<<-E` or `<<'E'` ends; 0: there is none at `at`.
std::size_t EndOfStart(std::string_view line, std::size_t at) {
  if (!line.substr(at).starts_with("<<") || line.substr(at).starts_with("<<<")) return 0;
  at = Skip(line, Skip(line, at + 2, "-"), kSpaces);
  const char quote = at < line.size() && (line[at] == '\'' || line[at] == '"') ? line[at] : '\0';
  const std::size_t begin = quote == '\0' ? at : at + 1;
  const std::size_t end = Skip(line, begin, kNames);
  if (end == begin) return 0;
  if (quote == '\0') return end;
  return end < line.size() && line[end] == quote ? end + 1 : 0;
}

/// Where the redirections of output behind it end; `at` when there are none.
std::size_t EndOfRedirects(std::string_view line, std::size_t at) {
  while (true) {
    std::size_t now = Skip(line, Skip(line, at, kSpaces), kDigits);
    if (now >= line.size() || line[now] != '>' || now == at) return at;
    now = Skip(line, now + 1, ">&");
    const std::size_t end = Skip(line, now, kPaths);
    if (end == now) return at;
    at = end;
  }
}

}  // namespace

std::string WithHeredocsLast(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t start = EndOfStart(line, at);
    const std::size_t end = start == 0 ? 0 : EndOfRedirects(line, start);
    const std::size_t pipe = Skip(line, end, kSpaces);
    const bool moves =
        end > start && line.substr(pipe).starts_with('|') && !line.substr(pipe).starts_with("||");
    if (!moves) {
      out += line[at++];
      continue;
    }
    out += line.substr(start, end - start);
    out += ' ';
    out += line.substr(at, start - at);
    at = end;
  }
  return out;
}

}  // namespace stet::policy
