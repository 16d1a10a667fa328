// Shell: one command that runs under bash, driven by the loop, in the foreground or the background
// alike.
//
// It runs in a session of its own, without a terminal, under a guard (base/guard/guard.h): all that
// it starts ends with it, with this object, and with us. Belongs to the loop's thread; the loop
// outlives it. Its destructor kills what runs and waits for its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "base/result.h"
#include "base/subprocess/subprocess.h"
#include "sandbox/confinement.h"
#include "tool/shell/output.h"
#include "tool/shell/setup.h"

namespace stet::tool {

struct ShellCommand {
  std::string command;
  std::string cwd;
  std::vector<std::string> variables;  // That it gets, beside ours.
  std::optional<std::string> input;    // Absent, and not kept open: /dev/null.
  bool keep_input_open = false;        // For more of it later.
  std::optional<std::chrono::seconds> timeout;
  const sandbox::Chosen* sandbox = nullptr;  // Null: it runs without one.
  std::string output_path = {};  // Where its output is kept; empty: in a folder of its own.
};

/// How a command ended.
struct ShellHow {
  enum class Why {
    kExited,   // By itself; see exit_code.
    kSignal,   // By a signal that we did not send.
    kTimeout,  // Stopped at its timeout.
    kStopped,  // Stopped because the caller asked.
  };
  Why why = Why::kExited;
  int exit_code = -1;  // -1 when a signal ended it.
  int signal = 0;

  [[nodiscard]] bool success() const { return why == Why::kExited && exit_code == 0; }
};

class Shell {
 public:
  /// Between the request to stop and SIGKILL.
  static constexpr std::chrono::milliseconds kGrace{2000};
  /// Input that the command has not read yet.
  static constexpr std::size_t kMaxInputBytes = std::size_t{1} << 20;

  static Result<std::unique_ptr<Shell>> Start(Loop& loop, const ShellCommand& command);
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() = default;

  /// Of the guard: for people who look for it.
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  [[nodiscard]] const ShellOutput& output() const { return output_; }
  /// See ShellOutput.
  Status MoveOutput(const std::string& path) { return output_.MoveTo(path); }
  /// What it was given; 0 when it may run for ever.
  [[nodiscard]] std::chrono::seconds timeout() const { return timeout_s_; }
  /// Nothing while it runs.
  [[nodiscard]] const std::optional<ShellHow>& how() const { return how_; }
  /// Where bash was at its end; empty when it did not say.
  [[nodiscard]] const std::string& ended_in() const { return ended_in_; }

  /// What it is kept in; null: nothing.
  [[nodiscard]] const sandbox::Confinement* confinement() const {
    return confinement_ ? &*confinement_ : nullptr;
  }

  /// Called with more output as it comes; null: no listener. Must not destroy the shell.
  void OnOutput(std::function<void(std::string_view)> listener) {
    on_output_ = std::move(listener);
  }
  /// Called once when it has ended, with all output read; at once when it has ended already. Must
  /// not destroy the shell.
  void OnEnd(std::function<void()> listener);

  /// More input. kConflict when it takes none, kFull when it has not read what it got before.
  Status Write(std::string_view bytes);
  /// The end of its input, behind what was written before.
  void CloseInput();

  /// Asks everything to end, and kills it after kGrace. OnEnd follows in any case.
  void Stop() { StopBecause(ShellHow::Why::kStopped); }
  /// Kills, without waiting for the end.
  void Kill();
  /// Kills, and waits for the end.
  void KillAndWait();

 private:
  Shell(Loop& loop, Subprocess process, ShellFiles files, ShellOutput output);

  void StopBecause(ShellHow::Why why);
  void WatchOutput(Loop& loop);
  void FeedInput();
  /// False when nothing more came.
  bool ReadOutput();
  void TakeEnd();

  ShellFiles files_;
  ShellOutput output_;
  std::optional<sandbox::Confinement> confinement_;
  Subprocess process_;
  // Copies of the process's own, which it closes when they have come to their end.
  Fd out_;
  Fd in_;
  std::unique_ptr<FdWatch> watch_out_;
  std::unique_ptr<FdWatch> watch_in_;
  std::unique_ptr<FdWatch> watch_exit_;
  Timer timeout_;
  std::chrono::seconds timeout_s_{0};
  Timer kill_;
  std::string input_;
  bool close_input_ = false;  // Behind the last of input_.
  std::optional<ShellHow::Why> stopped_because_;
  std::optional<ShellHow> how_;
  std::string ended_in_;
  std::function<void(std::string_view)> on_output_;
  std::vector<std::function<void()>> on_end_;
};

}  // namespace stet::tool
