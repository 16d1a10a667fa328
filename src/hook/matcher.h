// Matcher: whether a hook is meant by what happens. Empty or "*": always. Names with bars between
// them: one of these, exactly. Anything else is a regular expression that is looked for anywhere in
// it. A value; safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace stet::hook {

class Matcher {
 public:
  /// kInvalid says what is wrong with the expression.
  static Result<Matcher> From(std::string_view text);

  [[nodiscard]] bool Matches(std::string_view subject) const;

 private:
  std::vector<std::string> names_;
  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace stet::hook
