// Patterns of JSON Schema, compiled so that matching is bounded even for a hostile pattern.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/schema/graph.h"

namespace stet {

/// kUnsupported when the pattern is no expression, looks around or back (only RE2 bounds the work,
/// and it has neither), or is too large.
Result<SchemaPattern> CompilePattern(std::string_view pattern);

/// Whether the pattern occurs in `text`. False for text beyond JsonSchema::kMaxPatternText.
bool Matches(const SchemaPattern& pattern, std::string_view text);

}  // namespace stet
