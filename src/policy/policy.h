// Policy: whether a call may run. Pure: the same question has the same answer. The only place that
// denies.
//
// A first set of rules: what stays inside the project and only reads is allowed; what writes or
// runs commands is asked, unless a mode or a rule says otherwise. Deny beats ask beats allow. Hard
// rules and what the run does not permit come before everything, whatever the mode.
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
  kAuto,         // So may they here; and commands that are known to be harmless run.
  kPlan,         // Nothing with effects runs.
  kDontAsk,      // What would be asked is denied.
  kBypass,       // Everything runs.
};

/// "default", "acceptEdits", ...; also "bypassPermissions", as others spell it.
std::optional<Mode> ModeFrom(std::string_view name);
std::string_view ModeName(Mode mode);

enum class Verdict { kAllow, kAsk, kDeny };

struct Decision {
  Verdict verdict = Verdict::kAsk;
  std::string rule;    // What decided: "mode:acceptEdits", "allow:Bash(git *)", "read in project".
  std::string reason;  // For people and for the model, when it is not allowed.
  bool hard = false;   // Denied by a hard rule.
};

/// What a call would do, as the tool says it.
struct Question {
  std::string tool;
  bool effects = false;
  std::vector<std::string> reads;  // Real paths.
  std::vector<std::string> writes;
  std::string command;
  std::string url;
  bool unsandboxed = false;  // The command asks to run without the sandbox.
};

/// `Tool`, or `Tool(beginning of a command or path *)`: a star at the end stands for anything.
struct Rule {
  std::string tool;
  std::string specifier;  // Empty: every call of the tool.
  bool exact = false;     // The specifier is the whole command or path: a star is a star.
  friend bool operator==(const Rule&, const Rule&) = default;
};
/// "Read,Bash(git status)" or with blanks between. kInvalid names the part that is no rule.
Result<std::vector<Rule>> ParseRules(std::string_view text);

/// A rule that covers this call and no more than a user expects: the same command or address again,
/// or the same tool on files of the project.
struct Rules;
Rule GrantFor(const Rules& rules, const Question& question);
/// "Edit" or "Bash(make -j2)": as a grant stands in the log.
std::string RuleText(const Rule& rule);
Rule GrantFrom(std::string_view text);

/// What the state of the run permits. Reading is always permitted.
struct Capabilities {
  bool may_write = true;
  bool may_run = true;
  std::string reason;  // Why not.
};

struct Rules {
  Mode mode = Mode::kDefault;
  std::string project;                  // A real path.
  std::vector<std::string> more_roots;  // Other folders that count as the project's. Real paths.
  std::vector<Rule> allow;
  std::vector<Rule> ask;
  std::vector<Rule> deny;
  std::vector<Rule> hard;  // What must never be done.
  Capabilities run;        // Of this moment.
};

Decision Decide(const Rules& rules, const Question& question);

}  // namespace stet::policy
