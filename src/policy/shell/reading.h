// Whether a syntax tree is what bash would read. Pure.
//
// The parser is more generous than bash: it drops bytes, splits words and joins lines that bash
// does not. A tree with any sign of that is refused.
#pragma once

#include "base/result.h"
#include "policy/shell/tree.h"

namespace stet::policy {

/// kUnsupported says, in words for people, what is not plain.
Status CheckReading(const SyntaxTree& tree);

}  // namespace stet::policy
