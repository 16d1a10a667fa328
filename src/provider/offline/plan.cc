#include "provider/offline/plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "json/writer.h"

namespace stet::provider {
namespace {

constexpr std::size_t kMaxCalls = 50;
constexpr std::array<std::string_view, 6> kVerbs = {"read",    "list",  "search",
                                                    "replace", "write", "run"};

/// Takes `word` off the front, in any case, when a blank or the end is behind it.
bool TakeWord(std::string_view& text, std::string_view word) {
  if (text.size() < word.size() ||
      !std::ranges::equal(text.substr(0, word.size()), word, {}, LowerChar))
    return false;
  if (text.size() > word.size() && text[word.size()] != ' ' && text[word.size()] != '\n')
    return false;
  text = Trimmed(text.substr(word.size()));
  return true;
}

bool StartsWithVerb(std::string_view text) {
  return std::ranges::any_of(kVerbs, [&](std::string_view verb) {
    std::string_view copy = text;
    return TakeWord(copy, verb);
  });
}

/// Where the quote that opens at `at` closes; npos when it does not.
std::size_t QuoteEnd(std::string_view text, std::size_t at) {
  const char quote = text[at];
  if (quote != '"' && quote != '\'' && quote != '`') return std::string_view::npos;
  // An apostrophe inside a word opens nothing.
  if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\n') return std::string_view::npos;
  return text.find(quote, at + 1);
}

/// The first " WORD " outside quotes whose rest satisfies `fits`; npos when there is none.
template <class Fits>
std::size_t FindWord(std::string_view text, std::string_view word, Fits fits) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const std::size_t end = QuoteEnd(text, at); end != std::string_view::npos) {
      at = end;
      continue;
    }
    const bool blank = text[at] == ' ' || text[at] == '\n';
    std::string_view rest = text.substr(at + 1);
    if (blank && TakeWord(rest, word) && fits(rest)) return at;
  }
  return std::string_view::npos;
}

/// What a name or text stands for: without its quotes, or without the full stop of a sentence.
std::string Unquoted(std::string_view text) {
  text = Trimmed(text);
  if (text.size() >= 2 && QuoteEnd(text, 0) == text.size() - 1)
    return std::string(text.substr(1, text.size() - 2));
  return std::string(text);
}

std::string Args(std::initializer_list<std::pair<const char*, std::string>> members) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject();
  for (const auto& [name, value] : members) writer.Member(name, value);
  writer.EndObject();
  return json;
}

using Calls = std::vector<PlannedCall>;

bool PlanRead(std::string_view rest, Calls& calls) {
  const std::string file = Unquoted(rest);
  calls.push_back({"Read", Raw{Args({{"file_path", file}})}, fmt::format("Reading {}.", file)});
  return !file.empty();
}

bool PlanList(std::string_view rest, Calls& calls) {
  std::string pattern = Unquoted(rest);
  if (pattern.empty() || pattern == "files") pattern = "*";
  calls.push_back({"Glob", Raw{Args({{"pattern", pattern}})}, fmt::format("Listing {}.", pattern)});
  return true;
}

bool PlanSearch(std::string_view rest, Calls& calls) {
  const std::size_t in = FindWord(rest, "in", [](std::string_view path) { return !path.empty(); });
  const std::string text = Unquoted(rest.substr(0, in));
  if (text.empty()) return false;
  if (in == std::string_view::npos) {
    calls.push_back({"Grep", Raw{Args({{"pattern", text}})}, fmt::format("Searching {}.", text)});
    return true;
  }
  const std::string path = Unquoted(Trimmed(rest.substr(in)).substr(2));
  calls.push_back({"Grep", Raw{Args({{"pattern", text}, {"path", path}})},
                   fmt::format("Searching {} in {}.", text, path)});
  return true;
}

bool PlanRun(std::string_view rest, Calls& calls) {
  const std::string command = Unquoted(rest);
  calls.push_back({"Bash", Raw{Args({{"command", command}})}, fmt::format("Running {}", command)});
  return !command.empty();
}

bool PlanReplace(std::string_view rest, Calls& calls) {
  const auto any = [](std::string_view behind) { return !behind.empty(); };
  const std::size_t with = FindWord(rest, "with", any);
  if (with == std::string_view::npos) return false;
  const std::string_view behind = Trimmed(rest.substr(with)).substr(4);
  const std::size_t in = FindWord(behind, "in", any);
  if (in == std::string_view::npos) return false;
  const std::string before = Unquoted(rest.substr(0, with));
  const std::string after = Unquoted(behind.substr(0, in));
  const std::string file = Unquoted(Trimmed(behind.substr(in)).substr(2));
  if (before.empty() || file.empty()) return false;
  PlanRead(file, calls);  // A file is read before it is changed.
  calls.push_back({"Edit",
                   Raw{Args({{"file_path", file}, {"old_string", before}, {"new_string", after}})},
                   fmt::format("Replacing {} with {} in {}.", before, after, file)});
  return true;
}

bool PlanWrite(std::string_view rest, Calls& calls) {
  std::size_t name_end = 0;
  if (!rest.empty()) {
    const std::size_t quote = QuoteEnd(rest, 0);
    name_end = rest.find(':', quote == std::string_view::npos ? 0 : quote);
  }
  if (rest.empty() || name_end == std::string_view::npos) return false;
  const std::string file = Unquoted(rest.substr(0, name_end));
  if (file.empty()) return false;
  calls.push_back(
      {"Write", Raw{Args({{"file_path", file}, {"content", Unquoted(rest.substr(name_end + 1))}})},
       fmt::format("Writing {}.", file)});
  return true;
}

bool PlanOne(std::string_view text, Calls& calls) {
  text = Trimmed(text);
  TakeWord(text, "please");
  if (TakeWord(text, "read")) return PlanRead(text, calls);
  if (TakeWord(text, "list")) return PlanList(text, calls);
  if (TakeWord(text, "search")) {
    TakeWord(text, "for");
    return PlanSearch(text, calls);
  }
  if (TakeWord(text, "run")) return PlanRun(text, calls);
  if (TakeWord(text, "replace")) return PlanReplace(text, calls);
  if (TakeWord(text, "write")) return PlanWrite(text, calls);
  return false;
}

/// Drops ", and" and the like that stand before a "then".
std::string_view WithoutJoint(std::string_view text) {
  text = Trimmed(text);
  if (text.ends_with(" and")) text = Trimmed(text.substr(0, text.size() - 4));
  if (text.ends_with(',') || text.ends_with(';')) text.remove_suffix(1);
  return Trimmed(text);
}

}  // namespace

std::optional<Calls> PlanRequest(std::string_view text) {
  Calls calls;
  text = Trimmed(text);
  while (!text.empty()) {
    const std::size_t then = FindWord(text, "then", StartsWithVerb);
    const bool last = then == std::string_view::npos;
    if (!PlanOne(last ? text : WithoutJoint(text.substr(0, then)), calls)) return std::nullopt;
    if (calls.size() > kMaxCalls) return std::nullopt;
    text = last ? "" : Trimmed(Trimmed(text.substr(then)).substr(4));
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

}  // namespace stet::provider
