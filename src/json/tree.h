// JsonTree: a JSON value with its parts in memory, for code that goes over them more than once.
//
// Building it is bounded in depth and size. Numbers are doubles and keep their text. A tree is a
// plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace stet {

struct JsonMember;

struct JsonTree {
  JsonReader::Kind kind = JsonReader::Kind::kNull;
  bool boolean = false;
  double number = 0;
  std::string text;  // A string, unescaped; a number as it stands in the text.
  std::vector<JsonTree> items;
  std::vector<JsonMember> members;  // In their order, duplicates too.

  [[nodiscard]] bool is(JsonReader::Kind other) const { return kind == other; }
  /// The last member of that name; null when there is none.
  [[nodiscard]] const JsonTree* Find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  JsonTree value;
};

struct TreeLimits {
  std::size_t depth = 128;
  std::size_t values = 4'000'000;
};

/// Fails with kInvalid when `text` is no JSON or beyond the limits.
Result<JsonTree> ParseTree(std::string_view text, TreeLimits limits = {});

/// Whether two values say the same: 1 and 1.0 do, and so do objects whose members are in another
/// order.
bool SameJson(const JsonTree& a, const JsonTree& b);

/// The value as compact JSON.
void AppendJson(std::string& out, const JsonTree& value);

}  // namespace stet
