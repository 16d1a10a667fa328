// Rules together on one line: `make test | tail -5` under `make*` and `tail*`, or under `make*`
// alone.
//
// A line whose every part some rule covers is covered. Parts that no rule covers may only read:
// then the line is mixed. Never together: parts behind a `cd` that leads out, or nobody knows
// where; assignments, however they are written, but for a fixed list; output to files that may not
// be written; functions, traps and what changes the meaning of names; a part that does more than
// read what it is sent, when the rule that covers it does not cover what sends it. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/shell.h"

namespace stet::policy {

/// What holds around the line.
struct CombineBounds {
  std::function<bool(const std::string& folder)> is_home;       // Of the project, or added to it.
  std::function<bool(const ShellCommand& command)> only_reads;  // And only there.
  std::function<bool(const ShellPath& path)> may_write;         // As the tool Write may.
};

struct Combined {
  enum class Kind {
    kNone,   // No rule covers any of it, or something in it forbids to combine.
    kMixed,  // Rules cover some of it, the rest only reads.
    kWhole,  // Rules cover all of it.
  };
  Kind kind = Kind::kNone;
  std::vector<std::size_t> rules;  // Those that cover a part, by their places.
  std::string uncovered;           // The part that is not covered, and why; empty: none is.
};

/// `specifiers` are those of the rules that allow; an empty one covers everything.
Combined CombineRules(std::span<const std::string_view> specifiers, const ShellAnalysis& analysis,
                      const CombineBounds& bounds);

}  // namespace stet::policy
