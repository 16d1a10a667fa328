// Sandboxing: whether a call runs in a sandbox, and in which.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/ignore.h"
#include "policy/policy.h"
#include "sandbox/confinement.h"
#include "tool/tool.h"

namespace stet::agent {

/// What all commands of a session have as /tmp: made when the first one needs it, and removed with
/// the last owner. On the session's loop.
class SessionTemp {
 public:
  Result<std::string> Path();

 private:
  std::optional<sandbox::OwnFolder> folder_;
};

/// Of a session.
struct SandboxRules {
  enum class When { kNever, kInAutoMode, kAlways };
  When when = When::kNever;
  bool required = false;  // Where it cannot be enforced, nothing runs instead.
  sandbox::Profile profile = {};
  std::string project = {};
  /// What is excluded of the project: hidden from commands, as it is when they start. May be null.
  std::shared_ptr<const IgnoreFile> exclude = {};
  /// Copies of these rules share it. Not null.
  std::shared_ptr<SessionTemp> temp = std::make_shared<SessionTemp>();
};

/// What a call is run in.
struct Boxed {
  std::optional<sandbox::Chosen> chosen;  // Nothing: no sandbox.
  std::string note;                       // Why not, when there should be one.
};

/// Only commands have one. The machine is looked at when the first one needs it. kUnsupported when
/// one is required and none works; kDenied when not all that is excluded can be hidden, and only
/// policy, which counts on that, has allowed the command: neither the user nor a hook did.
enum class AllowedBy { kPolicy, kUserOrHook };
Result<Boxed> BoxFor(const SandboxRules& rules, policy::Mode mode, const tool::Intent& intent,
                     AllowedBy by);

/// Whether commands run in one in that mode.
bool IsBoxed(const SandboxRules& rules, policy::Mode mode);

/// Whether all that is excluded can be hidden from commands that run in one.
bool HidesExcluded(const SandboxRules& rules);

/// What `tool_started` says of it: by what, and with which network.
std::optional<Raw> BoxText(const Boxed& box);

}  // namespace stet::agent
