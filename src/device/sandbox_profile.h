// The profile that commands of a project run under, from the configuration and from what is known
// of this user's secrets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/sandboxing.h"
#include "base/ignore.h"
#include "config/roots.h"
#include "config/settings.h"

namespace stet::device {

struct ProfileSources {
  const config::Roots& roots;
  const config::SandboxSettings& settings;
  std::string project;                                 // A real path.
  std::vector<std::string> more_roots;                 // Folders that count as the project's.
  std::string home;                                    // Empty: unknown.
  std::vector<std::string> secret_variables;           // Beside those with telling names.
  std::shared_ptr<const IgnoreFile> exclude = {};      // Of the project. May be null.
  std::vector<policy::ForbiddenFiles> forbidden = {};  // By rules, beside that.
};

/// Writable: the project, what was added to it, and, for a linked worktree, its repository. Inside
/// of these the hooks and configuration of git, agents' own folders and shells' start-up files are
/// read-only. Hidden: our own folders, keys and logins, browsers' profiles, the system's sockets.
sandbox::Profile MakeProfile(const ProfileSources& sources);

/// What is excluded or denied by rules.
agent::SandboxRules::Denied DeniedOf(const ProfileSources& sources);

/// When it is used. Without a word in the configuration that is in mode auto.
agent::SandboxRules MakeSandboxRules(const ProfileSources& sources);

}  // namespace stet::device
