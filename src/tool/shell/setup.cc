#include "tool/shell/setup.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/environment.h"
#include "base/fs.h"

namespace stet::tool {

namespace {

constexpr std::size_t kMaxCwdBytes = 4096;

/// What makes programs wait for a person, answered in advance.
constexpr std::string_view kFixedVariables[] = {
    "PAGER=cat",
    "GIT_PAGER=cat",
    "GIT_TERMINAL_PROMPT=0",
    "EDITOR=false",
    "VISUAL=false",
    "GIT_EDITOR=false",
    "GIT_ASKPASS=/bin/false",
    "SSH_ASKPASS=/bin/false",
    "SSH_ASKPASS_REQUIRE=force",
    "SUDO_ASKPASS=/bin/false",
    "TERM=dumb",
    "DEBIAN_FRONTEND=noninteractive",
};

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

Result<ShellFiles> ShellFiles::Make(const std::vector<std::string>& hidden) {
  const char* chosen = ::getenv("TMPDIR");
  ASSIGN_OR_RETURN(std::string folder,
                   MakeTempDir(chosen != nullptr && *chosen == '/' ? chosen : "/tmp", "stet-sh-"));
  ShellFiles files(std::move(folder));
  RETURN_IF_ERROR(files.WriteStart(hidden));
  return files;
}

ShellFiles::ShellFiles(ShellFiles&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

ShellFiles::~ShellFiles() {
  // Ignoring the error on purpose: a folder left behind says what it is.
  if (!folder_.empty()) (void)RemoveTree(folder_);
}

std::string ShellFiles::EndedIn() const {
  std::string path = ReadFile(folder_ + "/cwd", kMaxCwdBytes).value_or("");
  if (path.ends_with('\n')) path.pop_back();
  return path;
}

/// The group hides what `set -x` would print of the trap.
Status ShellFiles::WriteStart(const std::vector<std::string>& hidden) const {
  const std::string trap =
      fmt::format("{{ builtin pwd -P >|{} || :; }} 2>/dev/null", Quoted(folder_ + "/cwd"));
  std::string script = fmt::format("trap {} EXIT\n", Quoted(trap));
  for (const std::string& name : hidden)
    script += fmt::format("unset -v {} 2>/dev/null\n", Quoted(name));
  const char* own = ::getenv("BASH_ENV");
  if (own != nullptr && *own != '\0')
    script += fmt::format("export BASH_ENV={0}\n[ -r {0} ] && . {0}\n", Quoted(own));
  else
    script += "unset BASH_ENV\n";
  // The command must not see how the last line here went.
  return ReplaceFile(start(), script + ":\n", Durable::kNo);
}

std::vector<std::string> ShellEnvironment(const std::vector<std::string>& own,
                                          const ShellFiles& files) {
  std::vector<std::string> variables(std::begin(kFixedVariables), std::end(kFixedVariables));
  variables.push_back("BASH_ENV=" + files.start());
  const std::size_t fixed = variables.size();
  for (const std::string& kept : own) {
    const std::string_view name = VariableName(kept);
    const bool replaced =
        std::any_of(variables.begin(), variables.begin() + static_cast<std::ptrdiff_t>(fixed),
                    [&](const std::string& variable) { return VariableName(variable) == name; });
    if (!replaced) variables.push_back(kept);
  }
  return variables;
}

}  // namespace stet::tool
