// Sandboxing: whether a call runs in a sandbox, and in which: the box that fits what policy claimed
// of it, or else what the user's configuration says.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "sandbox/confinement.h"
#include "tool/excluded.h"
#include "tool/tool.h"

namespace stet::agent {

/// What commands in boxes share. On the session's loop.
class SharedByBoxes {
 public:
  /// What all commands that may write have as /tmp: made when the first one needs it, and removed
  /// with the last owner.
  Result<std::string> Temp();

  /// No box fits a command that failed because of it, or that a person allowed for longer: where
  /// policy alone allows it, it is asked; where a rule does, it runs in none.
  void KeptBack(const std::string& command) { kept_back_.insert(command); }
  [[nodiscard]] bool WasKeptBack(const std::string& command) const {
    return kept_back_.contains(command);
  }

 private:
  std::optional<sandbox::OwnFolder> folder_;
  std::set<std::string> kept_back_;
};

/// Of a session.
struct SandboxRules {
  enum class When { kNever, kInAutoMode, kAlways };
  When when = When::kNever;
  bool required = false;          // Where it cannot be enforced, nothing runs instead.
  sandbox::Profile profile = {};  // Of what mode auto lets run, and of what is always kept in.
  sandbox::Profile reads = {};    // Of what only reads.
  std::string project = {};
  bool project_is_home = false;  // Or a folder above it.
  /// What is excluded or denied by rules: kept from commands, in a box or not, as it is when they
  /// start.
  struct Denied {
    std::vector<tool::ExcludedPlace> reading;
    std::vector<tool::ExcludedPlace> changing;
    [[nodiscard]] bool empty() const { return reading.empty() && changing.empty(); }
  };
  Denied denied = {};
  /// Copies of these rules share it. Not null.
  std::shared_ptr<SharedByBoxes> shared = std::make_shared<SharedByBoxes>();
};

/// What a call is run in.
struct Boxed {
  std::optional<sandbox::Chosen> chosen;  // Nothing: no sandbox.
  std::string note;                       // Why not, when there should be one.
};

/// Who said that a command may run: policy by its own judgement, with what that claims, or a person
/// (by a rule, an answer or a hook of theirs: no claim).
struct Allowed {
  policy::Mode mode = policy::Mode::kDefault;
  policy::Box claim = policy::Box::kNone;
  bool by_policy = false;  // Neither the user nor a hook was asked.
};

/// Only commands have one. A command for which there is none is in one all the same that takes
/// nothing away but what is denied, where there is some of that and it works here
/// (sandbox/hiding.h). The machine is looked at when the first one needs it. What was claimed
/// holds whole, or the command does not run (kUnsupported). Without a claim: kUnsupported when a
/// sandbox is required and none works. kDenied when not all that is excluded can be hidden, and
/// policy alone, which counts on that, has allowed the command. In mode auto, what a person was
/// asked about runs as was said then: in no box.
///
/// `guarded` are the places of the project that programs obey, as they are now: no box lets them be
/// changed.
Result<Boxed> BoxFor(const SandboxRules& rules, const tool::Intent& intent, const Allowed& allowed,
                     const std::vector<std::string>& guarded = {});

/// Whether the command would run in a box in which something may be written.
bool MayWriteInABox(const SandboxRules& rules, const tool::Intent& intent, const Allowed& allowed);

/// What policy allowed by its own judgement is asked where the kernel cannot hold the command to
/// the claim, and where the command was kept from something before.
policy::Decision HeldToItsBox(policy::Decision decision, const SandboxRules& rules,
                              policy::Mode mode, const std::string& command);

/// Whether the box of that claim holds here; the error says why it does not, and what to do.
Status CanBox(const SandboxRules& rules, policy::Box claim);

/// Whether commands that are allowed run in a sandbox in that mode, whoever allowed them.
bool IsBoxed(const SandboxRules& rules, policy::Mode mode);

/// What is excluded or denied now.
struct Hiding {
  bool all = true;       // All of it can be hidden from commands in boxes.
  bool any = false;      // There is something to be hidden in the project.
  bool outside = false;  // All of it can be hidden from the others, too.
};
Hiding HidingOf(const SandboxRules& rules);

/// What `tool_started` says of it: by what, and with which network.
std::optional<Raw> BoxText(const Boxed& box);

}  // namespace stet::agent
