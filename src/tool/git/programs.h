// What git would run because a repository says so: settings of its own configuration that name
// programs (or may: see git_settings.h), and its hooks. Found by reading files; git is not run.
//
// Read are the repository's configuration, that of its worktree and of its submodules. Whatever
// cannot be read, makes no sense or is too much to be looked through counts as naming programs.
#pragma once

#include <string>
#include <vector>

namespace stet::tool {

struct GitProgram {
  std::string what;   // "core.fsmonitor", "hook pre-commit", or what is wrong with the file.
  std::string value;  // Of a setting.
  std::string file;   // Where that is said.
};

struct GitPrograms {
  std::string root;  // The folder that the repository was found in; empty: there is none.
  std::vector<GitProgram> settings;  // Avoided only by not running git.
  std::vector<GitProgram> hooks;     // What KeepGitHooksOff keeps off.
};

/// For people: "core.fsmonitor in .git/config", its path as seen from `folder`.
std::string Text(const GitProgram& program, const std::string& folder);

/// Of the repository that git would use in this folder.
GitPrograms FindGitPrograms(const std::string& folder);

/// The environment in which git runs no hook and no monitor, whatever a repository says.
std::vector<std::string> KeepGitHooksOff(std::vector<std::string> variables);

}  // namespace stet::tool
