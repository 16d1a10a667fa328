// SchemaGraph: a JSON Schema made ready for checking: one node per schema, references resolved. For
// json_schema.cc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/tree.h"

namespace re2 {
class RE2;
}

namespace stet {

/// The index of a node in its graph.
using SchemaId = std::uint32_t;
inline constexpr SchemaId kNoSchema = std::numeric_limits<SchemaId>::max();

/// Bits of the types that a schema names.
enum TypeBit : std::uint8_t {
  kTypeNull = 1,
  kTypeBool = 2,
  kTypeNumber = 4,
  kTypeInteger = 8,
  kTypeString = 16,
  kTypeArray = 32,
  kTypeObject = 64,
};

struct SchemaPattern {
  std::string text;
  std::shared_ptr<const re2::RE2> regex;
};

struct SchemaNode {
  bool never = false;      // The schema `false`.
  std::uint8_t types = 0;  // 0: any.
  SchemaId ref = kNoSchema;
  const JsonTree* constant = nullptr;
  const std::vector<JsonTree>* choices = nullptr;  // enum.

  std::vector<SchemaId> any_of, one_of, all_of;
  SchemaId negated = kNoSchema;
  SchemaId if_schema = kNoSchema, then_schema = kNoSchema, else_schema = kNoSchema;

  std::unordered_map<std::string_view, SchemaId> properties;
  std::vector<std::pair<SchemaPattern, SchemaId>> pattern_properties;
  std::vector<std::string_view> required;
  SchemaId additional_properties = kNoSchema;
  SchemaId property_names = kNoSchema;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> dependent_required;
  std::optional<double> min_properties, max_properties;

  std::vector<SchemaId> prefix_items;
  SchemaId items = kNoSchema;  // For those after prefix_items.
  std::optional<double> min_items, max_items;
  bool unique_items = false;

  std::optional<double> min_length, max_length;
  std::optional<SchemaPattern> pattern;
  std::optional<double> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
};

struct SchemaGraph {
  JsonTree document;  // Names and values in the nodes point into it.
  std::vector<SchemaNode> nodes;
  SchemaId root = 0;
};

/// Fails as JsonSchema::Parse does.
Result<std::shared_ptr<const SchemaGraph>> BuildSchemaGraph(std::string_view text);

/// The bit of a value's type; a number that is whole has both bits.
std::uint8_t TypeBitsOf(const JsonTree& value);

/// "a string", "an integer or null", ...
std::string TypeNames(std::uint8_t types);

}  // namespace stet
