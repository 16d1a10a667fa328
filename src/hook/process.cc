#include "hook/process.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/fd.h"

namespace stet::hook {
namespace {

using How = ProcessEnd::How;

/// Between the request to end and SIGKILL.
constexpr std::chrono::milliseconds kGrace{500};

/// Moves bytes between a process and us as its pipes are ready.
class Pipes {
 public:
  /// At the exit both are set.
  Pipes(Loop& loop, Subprocess& process, const Pending<How>& ended, const Pending<bool>& gone)
      : process_(process) {
    Watch(loop, process.stdin_fd(), false, in_);
    Watch(loop, process.stdout_fd(), true, out_);
    Watch(loop, process.stderr_fd(), true, err_);
    exit_ = std::make_unique<FdWatch>(loop, process.pidfd(), [this, ended, gone](bool, bool) {
      exit_->Want(false, false);
      ended.Set(How::kExited);
      gone.Set(true);
    });
    exit_->Want(true, false);
  }
  Pipes(const Pipes&) = delete;
  Pipes& operator=(const Pipes&) = delete;
  ~Pipes() = default;

 private:
  struct Pipe {
    Fd copy;  // The process closes its own when it has come to its end.
    std::unique_ptr<FdWatch> watch;
  };

  void Watch(Loop& loop, int fd, bool read, Pipe& pipe) {
    if (fd < 0) return;
    pipe.copy = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!pipe.copy) return;
    pipe.watch = std::make_unique<FdWatch>(loop, pipe.copy.get(), [this](bool, bool) { Move(); });
    pipe.watch->Want(read, !read);
  }

  void Move() {
    if (in_.watch) process_.FeedInput();
    process_.ReadOutput();
    if (process_.stdin_fd() < 0) Close(in_);
    if (process_.stdout_fd() < 0) Close(out_);
    if (process_.stderr_fd() < 0) Close(err_);
  }
  static void Close(Pipe& pipe) {
    pipe.watch.reset();
    pipe.copy.reset();
  }

  Subprocess& process_;
  Pipe in_;
  Pipe out_;
  Pipe err_;
  std::unique_ptr<FdWatch> exit_;
};

}  // namespace

Async<ProcessEnd> RunProcess(Loop& loop, SpawnOptions options, std::chrono::milliseconds timeout,
                             CancelToken cancel) {
  ProcessEnd end;
  Result<Subprocess> started = Subprocess::Start(std::move(options));
  if (!started) {
    end.how = How::kNotStarted;
    end.err = started.error().Text();
    co_return end;
  }
  Subprocess& process = *started;
  const Pending<How> ended(loop);
  const Pending<bool> gone(loop);
  auto pipes = std::make_unique<Pipes>(loop, process, ended, gone);
  Timer clock(loop);
  clock.Start(timeout, [ended] { ended.Set(How::kTimeout); });
  const CancelRegistration registration = cancel.OnCancel([ended] { ended.Set(How::kCancelled); });
  end.how = co_await ended;
  if (end.how != How::kExited) {
    process.Kill(SIGTERM);
    clock.Start(kGrace, [gone] { gone.Set(false); });
    co_await gone;
    process.Kill(SIGKILL);
  }
  clock.Cancel();
  pipes.reset();
  process.ReadOutput();
  process.Reap();
  Finished finished = process.TakeFinished();
  end.out = std::move(finished.out);
  end.err = std::move(finished.err);
  end.exit_code = finished.exit_code;
  if (end.how == How::kExited && finished.signal != 0) end.how = How::kSignal;
  co_return end;
}

std::vector<std::string> WithProject(std::vector<std::string> own, const std::string& project) {
  constexpr std::string_view kProject = "STET_PROJECT_DIR";
  std::erase_if(own,
                [&](const std::string& variable) { return VariableName(variable) == kProject; });
  own.push_back(fmt::format("{}={}", kProject, project));
  return own;
}

}  // namespace stet::hook
