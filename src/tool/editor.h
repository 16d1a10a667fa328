// Editor: a client's program in which people have files open, saved or not, and see commands run.
// An interface, so that tools know no client. Its answers come from another program: untrusted.
//
// Everything is asked on the loop, may take its time, and is bounded: kTimeout. kUnavailable when
// the client has gone. A path is the real path that policy has decided on.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/cancel.h"
#include "base/result.h"

namespace stet::tool {

struct TerminalCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;  // "NAME=value" each, beside the editor's own.
  std::string cwd;
  std::size_t max_bytes = 0;  // Of output; the last ones are kept.
};

struct TerminalEnd {
  std::optional<std::int64_t> exit_code;
  std::string signal;  // Its name, when one ended it.
};

struct TerminalOutput {
  std::string text;        // Valid UTF-8.
  bool truncated = false;  // There was more before it.
};

class Editor {
 public:
  virtual ~Editor() = default;

  // What it can do.
  [[nodiscard]] virtual bool reads() const = 0;
  [[nodiscard]] virtual bool writes() const = 0;
  [[nodiscard]] virtual bool runs() const = 0;

  /// The text of a file as it stands there; no larger than a file that is read from the disk.
  virtual Async<Result<std::string>> Read(std::string path, CancelToken cancel) = 0;
  /// Has the whole file written. After an error it may or may not have been.
  virtual Async<Status> Write(std::string path, std::string text, CancelToken cancel) = 0;

  /// Starts a command, and gives the terminal's id. The caller releases the terminal.
  virtual Async<Result<std::string>> OpenTerminal(TerminalCommand command) = 0;
  virtual Async<Result<TerminalEnd>> AwaitTerminal(std::string id, std::chrono::milliseconds within,
                                                   CancelToken cancel) = 0;
  virtual Async<Result<TerminalOutput>> ReadTerminal(std::string id) = 0;
  /// Ends the command; the terminal stays.
  virtual Async<Status> KillTerminal(std::string id) = 0;
  /// Ends what still runs, and lets go of the terminal. Does not wait.
  virtual void ReleaseTerminal(const std::string& id) = 0;
};

}  // namespace stet::tool
