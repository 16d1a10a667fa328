// What a shell command starts with: its environment, and the files that go between bash and us.
//
// Where a command leaves its working directory comes back through a file: bash reads a start-up
// file of ours (BASH_ENV) that sets an EXIT trap, so the command itself runs unchanged, with its
// own exit code and line numbers. A command that replaces the trap, or the shell, moves nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace stet::tool {

/// A folder of its own under $TMPDIR, removed with this object. Made while the command starts, read
/// after its end.
class ShellFiles {
 public:
  /// Variables named in `hidden` are taken away before the command begins.
  static Result<ShellFiles> Make(const std::vector<std::string>& hidden = {});

  ShellFiles(ShellFiles&& other) noexcept;
  ShellFiles& operator=(ShellFiles&&) = delete;
  ~ShellFiles();

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string start() const { return folder_ + "/start"; }
  /// Where its output may be kept.
  [[nodiscard]] std::string output() const { return folder_ + "/output"; }

  /// Where the shell was at its end; empty when it did not say.
  [[nodiscard]] std::string EndedIn() const;

 private:
  explicit ShellFiles(std::string folder) : folder_(std::move(folder)) {}
  [[nodiscard]] Status WriteStart(const std::vector<std::string>& hidden) const;

  std::string folder_;
};

/// `own`, with what keeps programs from waiting for a person: no pager, no editor, no prompt for a
/// password.
std::vector<std::string> ShellEnvironment(const std::vector<std::string>& own,
                                          const ShellFiles& files);

}  // namespace stet::tool
