// Subprocess: a child program in its own process group, with bounded output and a sure end.
//
// Passive: Start opens pipes and spawns; the driver (Run with poll(2), or an event loop) calls
// FeedInput, ReadOutput and Reap when the descriptors are ready. Guarantees: the child
// inherits no descriptor but 0, 1 and 2, has default signal handling and an empty signal mask; when
// a Subprocess dies its whole group is killed and the child reaped, unless it hangs in the kernel
// for kReapWait. Not covered without a guard (guard.h): processes that leave the group, and our own
// death by SIGKILL. It belongs to one thread at a time. SIGCHLD must not be ignored in this
// process.
//
// SIGPIPE: standard input is a pipe and not a socket, since /dev/stdin cannot be opened on a
// socket; writes block SIGPIPE in the calling thread and take back the one they caused, so the
// process's own handling is left alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace stet {

namespace guard {
struct Ends;
}

/// What is kept of each output stream unless told otherwise.
inline constexpr std::size_t kMaxSubprocessOutput = std::size_t{16} << 20;

enum class StdinFrom {
  kNull,     // /dev/null, unless there is stdin_data.
  kInherit,  // Ours. A group in the background that reads a terminal is stopped by it.
  kPipe,     // A pipe, fed with stdin_data (if any) and then closed by Run; by hand otherwise.
};

struct SpawnOptions {
  /// The program, looked up in our PATH when it has no slash, and its arguments. A relative path is
  /// taken from `cwd`.
  std::vector<std::string> argv = {};
  /// "K=V" each; ours when not given.
  std::optional<std::vector<std::string>> env = {};
  /// Ours when empty.
  std::string cwd = {};
  StdinFrom stdin_from = StdinFrom::kNull;
  /// Not empty: stdin is a pipe that gets these bytes.
  std::string stdin_data = {};
  /// Per stream. The head is kept; what comes after it is read, counted and dropped.
  std::size_t max_output_bytes = kMaxSubprocessOutput;
  /// Sends stderr where stdout goes; `err` stays empty.
  bool merge_stderr = false;
  /// Run kills what is left of the group once the child itself has exited.
  bool kill_group_on_exit = true;
  /// A session of its own (which is a group of its own too): programs that ask on /dev/tty fail
  /// instead of stopping.
  bool new_session = false;
  /// Run under a guard, in a session of its own: nothing that the program starts outlives it, nor
  /// us. Signals then go to all of it, and its end is seen when all of it has ended. It is looked
  /// up in the PATH of `env`.
  bool guarded = false;
  /// With a guard only: what keeps it in, as the maker of boxes reads it. Empty: nothing.
  std::string box = {};
};

struct Finished {
  enum class End {
    kExited,          // By itself; see exit_code.
    kKilledBySignal,  // By a signal that Run did not send.
    kTimeout,         // Run ended it because the deadline passed.
    kCancelled,       // Run ended it because the token was cancelled.
  };

  int exit_code = -1;  // -1 when a signal ended it.
  int signal = 0;      // 0 when it exited.
  End end = End::kExited;
  std::string out;
  std::string err;
  std::uint64_t dropped_out = 0;  // Bytes beyond max_output_bytes.
  std::uint64_t dropped_err = 0;
};

class Subprocess {
 public:
  /// How long the end of a process is awaited after SIGKILL.
  static constexpr std::chrono::milliseconds kReapWait{5000};
  /// What one ReadOutput takes at most from each stream, so that a child that never stops writing
  /// cannot hold its driver. At least the size of a full pipe (1 MB for those without privileges).
  static constexpr std::size_t kMaxReadTurn = std::size_t{1} << 20;

  /// A program that cannot be started is an error that names it: kNotFound, kDenied, or kInvalid.
  /// With a guard this waits until the program runs (about 1 ms).
  static Result<Subprocess> Start(SpawnOptions options);

  /// Starts a program and drives it to its end: feeds stdin, keeps the head of both outputs, and
  /// when the deadline passes or the token is cancelled sends SIGTERM to the group, then SIGKILL
  /// after `grace`. An error means that it was not run (kCancelled: cancelled before); every other
  /// end is a Finished.
  static Result<Finished> Run(SpawnOptions options, Deadline deadline, const CancelToken& cancel,
                              std::chrono::milliseconds grace = std::chrono::seconds(2));

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess() { End(); }

  /// The guard's, where there is one; that is no child of ours.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Readable once the child has exited.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  /// Our ends, non-blocking; -1 when there is none or it has come to its end.
  [[nodiscard]] int stdin_fd() const { return in_.get(); }
  [[nodiscard]] int stdout_fd() const { return out_.fd.get(); }
  [[nodiscard]] int stderr_fd() const { return err_.fd.get(); }

  /// Writes what the pipe takes of stdin_data in one go; closes it after the last byte, or when the
  /// child no longer reads. A caller that talks to the child writes to stdin_fd() instead.
  void FeedInput();
  /// Writes what the pipe takes of `bytes`, and says how much that was. Nothing when the child no
  /// longer reads, or its input is closed.
  std::optional<std::size_t> WriteInput(std::string_view bytes);
  /// Closes the child's standard input.
  void CloseInput() { in_.reset(); }

  /// Reads what is there, at most kMaxReadTurn of each stream.
  void ReadOutput();
  /// What was read of stdout and not yet taken; makes room under max_output_bytes.
  std::string TakeOutput() { return std::exchange(out_.text, {}); }

  /// Signals the whole group; does nothing once the child is reaped (its number may be another's by
  /// then).
  void Kill(int signal);

  /// True once the child has exited and its status is taken. Never waits.
  bool Reap();

  /// How it ended (after Reap said true) and the output so far, which is moved out.
  Finished TakeFinished();

 private:
  struct Stream {
    Fd fd;
    std::string text;
    std::uint64_t dropped = 0;
  };

  struct HowItEnded {
    bool signalled;
    int status;  // The signal, or the exit code.
  };

  Subprocess() = default;
  Status StartGuarded(const SpawnOptions& options, guard::Ends ends);
  void ReadStream(Stream& stream) const;
  [[nodiscard]] bool AwaitExit(Deadline deadline) const;
  /// What a guard says of the program's start: 0, or an errno.
  [[nodiscard]] Result<int> AwaitStart() const;
  void HearEnd();
  void End();

  pid_t pid_ = -1;
  bool reaped_ = false;
  std::optional<HowItEnded> how_;  // Nothing before Reap, or when other code reaped it.
  Fd pidfd_;
  Fd control_;  // Of the guard, if there is one.
  Fd in_;
  Stream out_;
  Stream err_;
  std::string input_;
  std::size_t input_sent_ = 0;
  std::size_t max_output_bytes_ = kMaxSubprocessOutput;
};

}  // namespace stet
