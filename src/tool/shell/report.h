// What the model and the faces are told of a command: shared by Bash and BashTask.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tool/shell/facts.h"
#include "tool/shell/shell.h"
#include "tool/shell/shells.h"
#include "tool/tool.h"

namespace stet::tool {

struct ShellReport {
  const Shell& shell;
  std::uint64_t from = 0;  // Where the output that is shown begins.
  std::string task_id;     // Of a task in the background; else empty.
  std::string stopped;     // What is said of a command that was stopped on request.
  std::string notes;       // Lines behind the rest.
};

/// Output, how it ended or that it still runs, notes. It takes the facts with it.
Outcome Report(const ShellReport& report, ShellFacts facts, Call& call);

/// How a command went in a terminal of the editor's (tool/terminal.h).
struct TerminalReport {
  const ShellOutput& output;
  ShellHow how;
  std::string stopped;  // What is said of one that was stopped, or whose end is not known.
  std::string notes;
};
Outcome Report(const TerminalReport& report, ShellFacts facts, Call& call);

/// Gives a call's `update` what a shell writes, at most ten times a second; while it lives.
class ShellUpdates {
 public:
  /// Of each update: the last of what came since the one before.
  static constexpr std::size_t kMaxUpdateBytes = 4096;

  /// All of them outlive it.
  ShellUpdates(Shell& shell, Call& call);
  ShellUpdates(const ShellUpdates&) = delete;
  ShellUpdates& operator=(const ShellUpdates&) = delete;
  ~ShellUpdates() { shell_.OnOutput(nullptr); }

 private:
  void OnOutput(std::string_view text);

  Shell& shell_;
  Call& call_;
  Timer timer_;
  bool waiting_ = false;
  std::string pending_;
};

enum class ShellWake { kEnded, kWaited, kCancelled };

/// Until it has ended, `wait` has passed, or the call is cancelled.
Async<ShellWake> AwaitShell(Shell& shell, std::chrono::milliseconds wait, Call& call);

/// Stops it and waits until it has ended, which it does in a few seconds at most.
Async<void> StopShell(Shell& shell, Call& call);

}  // namespace stet::tool
