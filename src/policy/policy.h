// Policy: whether a call may run. Pure: the same question under the same rules and circumstances
// has the same answer. The only place that denies.
//
// What must never be done comes first, whatever the mode: hard rules, our own files, what is
// excluded, what the run does not permit, rules that deny. Then what is always asked: guarded
// places, files with more names than one. Deny beats ask beats allow; the mode decides the rest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore.h"
#include "base/result.h"
#include "policy/rule.h"

namespace stet::policy {

enum class Mode {
  kDefault,
  kAcceptEdits,  // Files in the project may be written.
  kAuto,         // The same, and commands that are known to be harmless run.
  kPlan,         // Nothing with effects runs.
  kDontAsk,      // What would be asked is denied.
  kBypass,       // Everything runs.
};

/// "default", "acceptEdits", ...; also "bypassPermissions", as others spell it.
std::optional<Mode> ModeFrom(std::string_view name);
std::string_view ModeName(Mode mode);

enum class Verdict { kAllow, kAsk, kDeny };

/// What is claimed of a command that runs without a person's word. The kernel holds it to that: a
/// wrong claim costs a failed command.
enum class Box {
  kNone,   // No claim: a person's word, or no command.
  kReads,  // It only reads, in the project and what every command needs.
  kEdits,  // It changes files of the project.
  kAuto,   // What mode auto lets run.
};

struct Decision {
  Verdict verdict = Verdict::kAsk;
  /// What decided, and who said it: "mode:acceptEdits", "allow:Bash(git *), your configuration",
  /// "read in project".
  std::string rule;
  std::string reason;  // For people and for the model, when it is not allowed.
  bool hard = false;   // Denied by a hard rule.
  bool firm = false;   // Asked, and only a person may say yes: no hook, no extension.
  Box box = Box::kNone;
  /// A rule allows what no box fits: it has to leave the machine, or to set git up.
  bool outward = false;
};

/// A rule that covers this call and no more than a user expects: the same command or address again,
/// or the same tool on files of the project. For commands that people repeat with other words (see
/// policy/shell/grant.h) what they begin with: `npm run test:*`.
struct Rules;
Rule GrantFor(const Rules& rules, const Question& question);

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
  std::string home;                     // The user's, a real path; empty: not known.
  std::vector<std::string> own;         // What only stet itself changes: its configuration, logs.
  std::vector<std::string> sealed;      // Of these, what no tool reads either: the vault.
  std::vector<Rule> allow;
  std::vector<Rule> ask;
  std::vector<Rule> deny;
  std::vector<Rule> hard;  // What must never be done.
  /// What no tool reads or writes: paths of the project, as in a .gitignore. May be null.
  std::shared_ptr<const IgnoreFile> exclude;
  /// That, and what rules forbid to read in the project: no search shows it. May be null.
  std::shared_ptr<const IgnoreFile> unsearched;
  /// What rules that deny forbid beside that: to read outside of the project, to change anywhere.
  std::vector<ForbiddenFiles> forbidden;
  bool trusts_git = false;  // The project's repository may name programs that git runs.
};

/// What holds when a call is decided on, and is no rule.
struct Circumstances {
  Capabilities run = {};
  bool sandboxed = false;       // What mode auto lets run can do no harm outside the project.
  bool hides_excluded = false;  // What is excluded cannot be read by the command.
  bool hides_files = false;     // There is something that is hidden from it.
  /// From whatever runs outside of boxes, what rules forbid to read is hidden as well.
  bool hides_denied = false;
};

Decision Decide(const Rules& rules, const Question& question,
                const Circumstances& circumstances = {});

}  // namespace stet::policy
