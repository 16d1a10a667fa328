#include "agent/question.h"

#include <map>

#include "agent/disk_reach.h"
#include "agent/scripts.h"
#include "policy/shell/rules.h"
#include "tool/git/branches.h"
#include "tool/git/programs.h"
#include "tool/git/restorable.h"
#include "tool/other_names.h"
#include "tool/paths.h"
#include "tool/project/look.h"
#include "tool/tool.h"

namespace stet::agent {
namespace {

/// Follows links in the paths. One that cannot be resolved stays as it is written.
void Follow(std::vector<policy::ShellPath>& paths, const tool::Workspace& workspace) {
  for (policy::ShellPath& path : paths) {
    if (path.path.empty()) continue;
    const std::string& given = path.given.empty() ? path.path : path.given;
    const Result<tool::RealPath> real = tool::Resolve(given, workspace);
    path.path = real ? real->path : given;
  }
}

/// What git would run in the folders that it is called in. Of the project's own repository hooks
/// are kept off by the environment (see host/attach).
class GitLook {
 public:
  GitLook(const tool::Workspace& workspace, bool trusted)
      : workspace_(workspace), trusted_(trusted) {}

  void At(policy::ShellCommand& command) {
    for (std::string& folder : command.folders) {
      const Result<tool::RealPath> real = tool::Resolve(folder, workspace_);
      if (!real) {
        command.git_elsewhere = true;
        continue;
      }
      folder = real->path;
      const auto [seen, fresh] = seen_.try_emplace(folder);
      if (fresh) seen->second = RunsIn(folder);
      if (command.git_runs.empty()) command.git_runs = seen->second;
      for (const std::string& name : command.may_follow)
        command.sets_git = command.sets_git || tool::IsOthersBranch(folder, name);
    }
  }

 private:
  /// Empty: nothing.
  [[nodiscard]] std::string RunsIn(const std::string& folder) const {
    const tool::GitPrograms programs = tool::FindGitPrograms(folder);
    const bool own = programs.root == workspace_.project;
    if (own && trusted_) return "";
    if (!programs.settings.empty())
      return tool::Text(programs.settings.front(), workspace_.project);
    return own || programs.hooks.empty() ? ""
                                         : tool::Text(programs.hooks.front(), workspace_.project);
  }

  const tool::Workspace& workspace_;
  bool trusted_;
  std::map<std::string, std::string> seen_;  // By folder: a line often calls git twice.
};

/// Where a command runs, links followed.
void FollowFolders(policy::ShellCommand& command, const tool::Workspace& workspace) {
  for (std::string& folder : command.folders) {
    if (folder == workspace.cwd) continue;
    if (const Result<tool::RealPath> real = tool::Resolve(folder, workspace)) folder = real->path;
  }
}

/// A file that output goes to may have other names, as one that is written by a tool.
void CautionOutput(const policy::ShellCommand& command, const tool::Workspace& workspace,
                   std::string& caution) {
  for (const auto* paths : {&command.writes, &command.loses}) {
    for (const policy::ShellPath& path : *paths) {
      if (caution.empty() && path.reach == policy::ShellPath::Reach::kExact)
        caution = tool::CautionAbout(path.path, workspace);
    }
  }
}

/// A box keeps these as they are; what a person allows runs in none.
void FindObeyed(const policy::ShellCommand& command, tool::ObeyedLook& look, std::string& obeyed) {
  for (const auto* paths : {&command.writes, &command.loses}) {
    for (const policy::ShellPath& path : *paths) {
      if (obeyed.empty() && path.reach == policy::ShellPath::Reach::kExact)
        obeyed = look.Because(path.path);
    }
  }
}

/// Whether it is started for each file that another one finds, wherever it is.
bool IsForFound(const policy::ShellAnalysis& shell, const policy::ShellCommand& command) {
  if (command.wrapper < 0) return false;
  const policy::ShellCommand& starter = shell.commands[static_cast<std::size_t>(command.wrapper)];
  return !starter.wraps && !starter.words.empty();  // Only find and fd are more than wrappers.
}

/// Who reads or writes a file under one name does so under all: what is denied of one is denied.
void AddOtherNames(const std::string& path, const tool::Workspace& workspace,
                   std::vector<std::string>& paths) {
  for (std::string& other : tool::FindOtherNames(path, workspace).paths)
    paths.push_back(std::move(other));
}

}  // namespace

policy::Question QuestionOf(std::string_view tool, const tool::Intent& intent,
                            const tool::Workspace& workspace, const policy::Rules& rules) {
  policy::Question question;
  question.tool = tool;
  question.effects = intent.effects;
  question.reads = intent.reads;
  question.writes = intent.writes;
  question.command = intent.command;
  question.url = intent.url;
  question.unsandboxed = intent.unsandboxed;
  tool::ObeyedLook obeyed(workspace);
  for (const std::string& path : intent.writes) {
    if (question.caution.empty()) question.caution = tool::CautionAbout(path, workspace);
    if (question.obeyed.empty()) question.obeyed = obeyed.Because(path);
    AddOtherNames(path, workspace, question.writes);
  }
  for (const std::string& path : intent.reads) {
    if (question.caution.empty()) question.caution = tool::CautionAboutReading(path, workspace);
    AddOtherNames(path, workspace, question.reads);
  }
  if (intent.command.empty()) return question;
  DiskReach disk(workspace);
  const bool patterns = intent.command.find_first_of("*?[") != std::string::npos;
  question.shell = policy::AnalyseShell(intent.command,
                                        {.cwd = workspace.cwd,
                                         .home = rules.home,
                                         .no_dashes = patterns && disk.HasNoDashes(workspace.cwd)});
  GitLook git(workspace, rules.trusts_git);
  std::optional<tool::TrackedFiles> tracked;  // Read when something of it could be lost.
  for (policy::ShellCommand& command : question.shell->commands) {
    FollowFolders(command, workspace);
    Follow(command.reads, workspace);
    Follow(command.writes, workspace);
    Follow(command.loses, workspace);
    disk.Resolve(command.reads, IsForFound(*question.shell, command));
    if (command.is_git) git.At(command);
    if (policy::WritesByRedirection(command)) CautionOutput(command, workspace, question.caution);
    FindObeyed(command, obeyed, question.obeyed);
    for (const policy::ShellPath& path : command.loses) {
      const bool whole = path.reach == policy::ShellPath::Reach::kExact ||
                         path.reach == policy::ShellPath::Reach::kTree;
      if (!whole) continue;
      if (!tracked) tracked = tool::TrackedFiles::Read(workspace.project);
      if (tool::IsRestorable(*tracked, workspace.project, path.path))
        question.restorable.push_back(path.path);
    }
  }
  const bool ruled = !rules.deny.empty() || !rules.hard.empty() || !rules.ask.empty();
  if (ruled) question.scripts = ScriptsOf(*question.shell, workspace);
  return question;
}

bool MayReadUnasked(const policy::Rules& rules, const tool::Workspace& workspace,
                    const std::string& path) {
  const policy::Question question = QuestionOf("Read", {.reads = {path}}, workspace, rules);
  return policy::Decide(rules, question).verdict == policy::Verdict::kAllow;
}

}  // namespace stet::agent
