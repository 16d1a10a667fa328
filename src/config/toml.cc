#include "config/toml.h"

#include <algorithm>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
// Version 3.3 asserts that a header such as [#a] has a key and, with NDEBUG, lets the compiler rely
// on it. Without either, its own check behind that gives the error.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/json.h"

namespace stet::config {
namespace {

/// Deeper tables are refused by the library itself.
class Converter {
 public:
  Converter(TomlText& out, std::string_view name) : out_(out), name_(name) {}

  Status Table(const toml::table& table, const std::string& prefix) {
    out_.json += '{';
    bool first = true;
    for (const auto& [key, value] : table) {
      if (!std::exchange(first, false)) out_.json += ',';
      AppendJsonString(out_.json, key.str());
      out_.json += ':';
      const std::string path =
          prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
      out_.spots.push_back({path, value.source().begin.line});
      RETURN_IF_ERROR(Value(value, path));
    }
    out_.json += '}';
    return {};
  }

 private:
  Status Value(const toml::node& value, const std::string& path) {
    if (const auto* table = value.as_table()) return Table(*table, path);
    if (const auto* array = value.as_array()) return Array(*array, path);
    if (const auto* text = value.as_string()) {
      AppendJsonString(out_.json, text->get());
    } else if (const auto* number = value.as_integer()) {
      AppendJsonInt(out_.json, number->get());
    } else if (const auto* flag = value.as_boolean()) {
      out_.json += flag->get() ? "true" : "false";
    } else {
      return Fail(Code::kInvalid,
                  fmt::format("{}:{}: {} must be a text, a whole number, true or false", name_,
                              value.source().begin.line, path));
    }
    return {};
  }

  Status Array(const toml::array& array, const std::string& path) {
    out_.json += '[';
    bool first = true;
    for (const toml::node& element : array) {
      if (!std::exchange(first, false)) out_.json += ',';
      RETURN_IF_ERROR(Value(element, path));
    }
    out_.json += ']';
    return {};
  }

  TomlText& out_;
  std::string_view name_;
};

/// Where the text that opens at `open` ends: behind its last quote, or before the line break that
/// it must not hold.
std::size_t TextEnd(std::string_view toml, std::size_t open) {
  const char quote = toml[open];
  const std::string triple(3, quote);
  const bool lines = toml.substr(open).starts_with(triple);
  for (std::size_t at = open + (lines ? 3 : 1); at < toml.size(); ++at) {
    if (toml[at] == '\\' && quote == '"') {
      ++at;
    } else if (!lines && (toml[at] == quote || toml[at] == '\n')) {
      return toml[at] == quote ? at + 1 : at;
    } else if (lines && toml.substr(at).starts_with(triple)) {
      // Up to two more quotes at the end belong to the text.
      const std::size_t end = std::min(toml.find_first_not_of(quote, at), toml.size());
      return std::min(end, at + 5);
    }
  }
  return toml.size();
}

/// The place of the first character beyond ASCII outside texts and comments, where TOML has none;
/// npos when there is none. The library's own test is undefined for many of them.
std::size_t FindStray(std::string_view toml) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::size_t at = toml.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < toml.size()) {
    if (toml[at] == '#') {
      at = std::min(toml.find('\n', at), toml.size());
    } else if (toml[at] == '"' || toml[at] == '\'') {
      at = TextEnd(toml, at);
    } else if (static_cast<unsigned char>(toml[at]) >= 0x80) {
      return at;
    } else {
      ++at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::uint32_t TomlText::LineOf(std::string_view key) const {
  const auto found = std::ranges::find(spots, key, &Spot::key);
  return found == spots.end() ? 0 : found->line;
}

Result<TomlText> ReadToml(std::string_view text, std::string_view name) {
  if (const std::size_t stray = FindStray(text); stray != std::string_view::npos) {
    return Fail(Code::kInvalid,
                fmt::format("{}:{}: letters beyond ASCII must stand in quotes", name,
                            1 + std::ranges::count(text.substr(0, stray), '\n')));
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return Fail(Code::kInvalid, fmt::format("{}:{}: {}", name, parsed.error().source().begin.line,
                                            parsed.error().description()));
  }
  TomlText out;
  RETURN_IF_ERROR(Converter(out, name).Table(parsed.table(), ""));
  return out;
}

}  // namespace stet::config
