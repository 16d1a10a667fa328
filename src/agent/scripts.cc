#include "agent/scripts.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/text.h"
#include "policy/shell/judge.h"
#include "policy/shell/option.h"
#include "tool/paths.h"
#include "tool/text_file.h"

namespace stet::agent {
namespace {

constexpr std::string_view kShells = "sh bash dash zsh ksh ash";

/// The file that a command runs as a script; null: none that is known. `direct`: by its own name.
const policy::ShellWord* ScriptOf(const policy::ShellCommand& command, bool& direct) {
  direct = false;
  if (command.words.empty() || !command.words[0].known() || command.folders.size() != 1)
    return nullptr;
  const std::string program = policy::ProgramName(command);
  const policy::ShellWord* file = nullptr;
  if (program == "source" || program == ".") {
    if (command.words.size() > 1) file = &command.words[1];
  } else if (policy::HasWord(kShells, program)) {
    for (std::size_t i = 1; i < command.words.size() && file == nullptr; ++i) {
      const std::string& text = command.words[i].text;
      if (!text.starts_with('-')) file = &command.words[i];
      // Text in place of a file, or an option with a value of its own.
      else if (text.find_first_of("coO") != std::string::npos)
        return nullptr;
    }
  } else if (command.words[0].text.contains('/')) {
    direct = true;
    file = &command.words[0];
  }
  return file != nullptr && file->known() ? file : nullptr;
}

bool IsForShell(std::string_view text) {
  if (!text.starts_with("#!")) return true;
  const std::string_view line = FirstLine(text);
  const std::size_t begin = line.find_last_of("/ ", line.find_last_not_of(" \t")) + 1;
  const std::string_view last = line.substr(begin);
  // `#!/bin/bash -e`: the program stands before its option.
  return policy::HasWord(kShells, last) || line.contains("/bash ") || line.contains("/sh ");
}

class ScriptReader {
 public:
  explicit ScriptReader(const tool::Workspace& workspace) : workspace_(workspace) {}

  void Take(const policy::ShellAnalysis& shell) {
    for (const policy::ShellCommand& command : shell.commands) {
      bool direct = false;
      const policy::ShellWord* file = ScriptOf(command, direct);
      if (file == nullptr) continue;
      std::optional<std::string> text = Read(file->text, command.folders[0], direct);
      if (!text || scripts_.size() == kMaxScripts) continue;
      policy::ShellPlace place = shell.place;
      place.cwd = command.folders[0];
      place.no_dashes = false;
      policy::ShellAnalysis script = policy::AnalyseShell(*text, place);
      if (!script.understood) continue;
      scripts_.push_back(script);
      Take(script);
    }
  }

  std::vector<policy::ShellAnalysis> TakeScripts() { return std::move(scripts_); }

 private:
  std::optional<std::string> Read(const std::string& name, const std::string& folder, bool direct) {
    const std::string path = name.starts_with('/') ? name : folder + "/" + name;
    const Result<tool::RealPath> real = tool::Resolve(path, workspace_);
    if (!real || !real->in_project || std::ranges::find(seen_, real->path) != seen_.end())
      return std::nullopt;
    seen_.push_back(real->path);
    Result<tool::FileBytes> file = tool::ReadRegularFile(real->path, policy::kMaxShellBytes);
    if (!file || file->bytes.find('\0') != std::string::npos) return std::nullopt;
    if (direct && !IsForShell(file->bytes)) return std::nullopt;
    return std::move(file->bytes);
  }

  const tool::Workspace& workspace_;
  std::vector<std::string> seen_;
  std::vector<policy::ShellAnalysis> scripts_;
};

}  // namespace

std::vector<policy::ShellAnalysis> ScriptsOf(const policy::ShellAnalysis& shell,
                                             const tool::Workspace& workspace) {
  ScriptReader reader(workspace);
  reader.Take(shell);
  return reader.TakeScripts();
}

}  // namespace stet::agent
