// Schemas and values from arbitrary bytes, parted by a zero byte: nothing crashes or hangs, and the
// answer is the same twice.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "json/schema/schema.h"

namespace stet::fuzz {
namespace {

void CheckErrors(const JsonSchema& schema, std::string_view value) {
  const std::vector<SchemaError> errors = schema.Validate(value);
  CHECK(errors.size() <= JsonSchema::kMaxErrors, "errors are capped");
  CHECK(errors == schema.Validate(value), "checking is deterministic");
  for (const SchemaError& error : errors) {
    CHECK(error.path.empty() || error.path.front() == '/', "a path is a JSON pointer");
    CHECK(!error.message.empty(), "an error says something");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = text.find('\0');
  const std::string_view value = zero == std::string_view::npos ? text : text.substr(zero + 1);
  const Result<JsonSchema> schema = JsonSchema::Parse(text.substr(0, zero));
  if (schema) CheckErrors(*schema, value);
  const Result<JsonSchema> negated =
      JsonSchema::Parse("{\"not\":" + std::string(text.substr(0, zero)) + "}");
  if (schema && negated) CheckErrors(*negated, value);
  return 0;
}

}  // namespace stet::fuzz
