// JsonSchema: checks JSON against a JSON Schema (draft-07 or 2020-12) and says what to correct.
//
// Understood: type, enum, const, properties, required, additionalProperties, patternProperties,
// propertyNames, minProperties, maxProperties, dependentRequired, items (both forms), prefixItems,
// additionalItems, minItems, maxItems, uniqueItems, minLength, maxLength, pattern, minimum,
// maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, anyOf, oneOf, allOf, not, if/then/else,
// and $ref to a place in the same document. Other keywords, `format` among them, are passed over.
// Patterns match in time linear in the text; one with a back-reference, or too large, is refused.
//
// Schemas and values need not be trusted: memory, depth and work are bounded. Numbers are
// compared as doubles. A JsonSchema is an immutable value, cheap to copy, and safe from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet {

struct SchemaError {
  std::string path;     // A JSON Pointer into the value: "/messages/0/content"; "" for the whole.
  std::string message;  // What is wrong there, for the author of the value.

  friend bool operator==(const SchemaError&, const SchemaError&) = default;
};

struct SchemaGraph;

class JsonSchema {
 public:
  static constexpr std::size_t kMaxSchemaBytes = std::size_t{8} << 20;
  /// Deeper values do not pass, nor do deeper schemas.
  static constexpr std::size_t kMaxDepth = 128;
  /// Validate reports no more than these.
  static constexpr std::size_t kMaxErrors = 32;
  /// How often a part of a value may meet a part of a schema; a value that needs more does not
  /// pass.
  static constexpr std::size_t kMaxSteps = 20'000'000;
  /// A longer string does not pass a pattern.
  static constexpr std::size_t kMaxPatternText = 10'240;

  /// kInvalid when this is no schema, kUnsupported when it needs what is not understood: a $ref out
  /// of the document, or a pattern that cannot be matched safely.
  static Result<JsonSchema> Parse(std::string_view text);

  /// Empty when the value fits. Where several alternatives are allowed, the errors are those of the
  /// one that came closest.
  [[nodiscard]] std::vector<SchemaError> Validate(std::string_view json) const;

 private:
  explicit JsonSchema(std::shared_ptr<const SchemaGraph> graph) : graph_(std::move(graph)) {}

  std::shared_ptr<const SchemaGraph> graph_;
};

}  // namespace stet
