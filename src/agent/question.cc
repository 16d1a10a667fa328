#include "agent/question.h"

#include "tool/git_index.h"
#include "tool/paths.h"

namespace stet::agent {
namespace {

/// Where links lead. What is no file of the user stays as it is written.
void Follow(std::vector<policy::ShellPath>& paths, const tool::Workspace& workspace) {
  for (policy::ShellPath& path : paths) {
    if (path.path.empty()) continue;
    const std::string& given = path.given.empty() ? path.path : path.given;
    const Result<tool::RealPath> real = tool::Resolve(given, workspace);
    path.path = real ? real->path : given;
  }
}

}  // namespace

policy::Question QuestionOf(std::string_view tool, const tool::Intent& intent,
                            const tool::Workspace& workspace, std::string_view home) {
  policy::Question question;
  question.tool = tool;
  question.effects = intent.effects;
  question.reads = intent.reads;
  question.writes = intent.writes;
  question.command = intent.command;
  question.url = intent.url;
  question.unsandboxed = intent.unsandboxed;
  for (const std::string& path : intent.writes) {
    if (question.caution.empty()) question.caution = tool::CautionAbout(path, workspace);
  }
  if (intent.command.empty()) return question;
  question.shell =
      policy::AnalyseShell(intent.command, {.cwd = workspace.cwd, .home = std::string(home)});
  for (policy::ShellCommand& command : question.shell->commands) {
    Follow(command.reads, workspace);
    Follow(command.writes, workspace);
    Follow(command.loses, workspace);
    for (const policy::ShellPath& path : command.loses) {
      const bool whole = path.reach == policy::ShellPath::Reach::kExact ||
                         path.reach == policy::ShellPath::Reach::kTree;
      if (whole && tool::IsRestorable(workspace.project, path.path))
        question.restorable.push_back(path.path);
    }
  }
  return question;
}

}  // namespace stet::agent
