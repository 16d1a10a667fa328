// Policy: whether a call may run. Pure: the same question has the same answer. The only place that
// denies.
//
// A first set of rules: what stays inside the project and only reads is allowed; what writes or
// runs commands is asked, unless a mode or a rule says otherwise. Deny beats ask beats allow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stet::policy {

enum class Mode {
  kDefault,
  kAcceptEdits,  // Files in the project may be written.
  kPlan,         // Nothing with effects runs.
  kBypass,       // Everything runs.
};

/// "default", "acceptEdits", ...
std::optional<Mode> ModeFrom(std::string_view name);
std::string_view ModeName(Mode mode);

enum class Verdict { kAllow, kAsk, kDeny };

struct Decision {
  Verdict verdict = Verdict::kAsk;
  std::string rule;    // What decided: "mode:acceptEdits", "allow:Bash(git *)", "read in project".
  std::string reason;  // For people and for the model, when it is not allowed.
};

/// What a call would do, as the tool says it.
struct Question {
  std::string tool;
  bool effects = false;
  std::vector<std::string> reads;  // Real paths.
  std::vector<std::string> writes;
  std::string command;
};

/// `Tool`, or `Tool(beginning of a command or path *)`: a star at the end stands for anything.
struct Rule {
  std::string tool;
  std::string specifier;  // Empty: every call of the tool.
};
/// "Read,Bash(git status)" or with blanks between. kInvalid names the part that is no rule.
Result<std::vector<Rule>> ParseRules(std::string_view text);

struct Rules {
  Mode mode = Mode::kDefault;
  std::string project;  // A real path.
  std::vector<Rule> allow;
  std::vector<Rule> deny;
};

Decision Decide(const Rules& rules, const Question& question);

}  // namespace stet::policy
