#include "base/subprocess.h"

#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = Finished::End;

/// Longer than any test takes; reaching it is a failure.
constexpr seconds kSafety(30);

SpawnOptions Shell(std::string script) { return {.argv = {"/bin/sh", "-c", std::move(script)}}; }

Finished RunShell(std::string script) {
  return Subprocess::Run(Shell(std::move(script)), Deadline::After(kSafety), {}).value();
}

/// True once the process is dead, reaped by whom it may concern or not.
bool IsDeadSoon(pid_t pid) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return errno == ESRCH;
  pollfd exit{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&exit, 1, Deadline::After(kSafety).PollTimeout()) == 1;
}

/// A FIFO through which a script says "now", so that no test has to guess how long things take.
class Cue {
 public:
  explicit Cue(const TempDir& dir) : path_(dir.Sub("cue")) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    fd_ = OpenFile(path_, O_RDWR | O_NONBLOCK).value();
  }
  [[nodiscard]] std::string Give() const { return "echo > " + path_ + "; "; }
  [[nodiscard]] bool Await() const {
    pollfd cue{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&cue, 1, Deadline::After(kSafety).PollTimeout()) == 1;
  }

 private:
  std::string path_;
  Fd fd_;
};

/// Runs a script and cancels it when it gives its cue.
Finished RunUntilCue(SpawnOptions options, const Cue& cue, milliseconds grace) {
  CancelSource source;
  std::thread canceller([&] {
    EXPECT_TRUE(cue.Await());
    source.Cancel();
  });
  auto finished =
      Subprocess::Run(std::move(options), Deadline::After(kSafety), source.token(), grace);
  canceller.join();
  return finished.value();
}

TEST(Subprocess, ReturnsBothOutputsAndTheExitCode) {
  const Finished finished = RunShell("printf out; printf err >&2; exit 3");
  EXPECT_EQ(finished.end, End::kExited);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.signal, 0);
  EXPECT_EQ(finished.out, "out");
  EXPECT_EQ(finished.err, "err");
}

TEST(Subprocess, SaysWhichSignalEndedIt) {
  const Finished finished = RunShell("kill -KILL $$");
  EXPECT_EQ(finished.end, End::kKilledBySignal);
  EXPECT_EQ(finished.exit_code, -1);
  EXPECT_EQ(finished.signal, SIGKILL);
}

TEST(Subprocess, FeedsMoreInputThanAPipeHolds) {
  const std::string data(1'000'000, 'x');
  const auto finished =
      Subprocess::Run({.argv = {"cat"}, .stdin_data = data}, Deadline::After(kSafety), {});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, data);
}

TEST(Subprocess, AChildThatDoesNotReadItsInputCausesNoSigpipe) {
  ASSERT_NE(::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  const auto finished = Subprocess::Run({.argv = {"true"}, .stdin_data = std::string(1 << 20, 'x')},
                                        Deadline::After(kSafety), {});
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 0);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST(Subprocess, InputIsEmptyUnlessGiven) {
  EXPECT_EQ(RunShell("cat").out, "");
  const auto piped = Subprocess::Run({.argv = {"cat"}, .stdin_from = StdinFrom::kPipe},
                                     Deadline::After(kSafety), {});
  EXPECT_EQ(piped.value().exit_code, 0);
}

TEST(Subprocess, KeepsTheHeadOfTheOutputAndCountsTheRest) {
  SpawnOptions options = Shell("printf abc; head -c 1000000 /dev/zero; printf abcdefg >&2");
  options.max_output_bytes = 5;
  const Finished finished = Subprocess::Run(options, Deadline::After(kSafety), {}).value();
  EXPECT_EQ(finished.out, std::string("abc\0\0", 5));
  EXPECT_EQ(finished.dropped_out, 999'998u);
  EXPECT_EQ(finished.err, "abcde");
  EXPECT_EQ(finished.dropped_err, 2u);
}

TEST(Subprocess, MergesStderrInOrder) {
  SpawnOptions options = Shell("printf a; printf b >&2; printf c");
  options.merge_stderr = true;
  const Finished finished = Subprocess::Run(options, Deadline::After(kSafety), {}).value();
  EXPECT_EQ(finished.out, "abc");
  EXPECT_EQ(finished.err, "");
}

TEST(Subprocess, AProgramThatCannotBeStartedIsNamed) {
  const auto missing = Subprocess::Start({.argv = {"stet-no-such-program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message, "start stet-no-such-program: No such file or directory");

  const auto folder = Subprocess::Start({.argv = {"/tmp"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::kDenied);
}

TEST(Subprocess, AFolderThatIsMissingIsNamed) {
  const auto failed = Subprocess::Start({.argv = {"true"}, .cwd = "/no/such/folder"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kNotFound);
  EXPECT_EQ(failed.error().Text(),
            "start true: look at /no/such/folder: No such file or directory");
}

TEST(Subprocess, RefusesWhatTheSystemWouldCut) {
  EXPECT_EQ(Subprocess::Start({}).error().code, Code::kInvalid);
  EXPECT_EQ(Subprocess::Start({.argv = {"echo", std::string("a\0b", 3)}}).error().code,
            Code::kInvalid);
}

TEST(Subprocess, UsesTheFolderAndTheEnvironmentItIsGiven) {
  const TempDir dir;
  const std::string here = RunShell("cd " + dir.path() + "; pwd -P").out;
  const auto finished = Subprocess::Run(
      {.argv = {"/bin/sh", "-c", "pwd -P; echo $A-$HOME-"}, .env = {{"A=b"}}, .cwd = dir.path()},
      Deadline::After(kSafety), {});
  EXPECT_EQ(finished.value().out, here + "b--\n");
}

TEST(Subprocess, TheChildInheritsNoDescriptorOfOurs) {
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd leaked(::fcntl(null.get(), F_DUPFD, 100));  // Without O_CLOEXEC, as a library might.
  const std::string path = "/proc/$$/fd/" + std::to_string(leaked.get());
  EXPECT_EQ(RunShell("test -e /proc/$$/fd/2 && ! test -e " + path).exit_code, 0);
}

TEST(Subprocess, TheChildNeitherIgnoresNorBlocksWhatWeDo) {
  const auto old = ::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigset_t old_mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old_mask);
  EXPECT_EQ(RunShell("kill -USR1 $$").signal, SIGUSR1);
  EXPECT_EQ(RunShell("kill -USR2 $$").signal, SIGUSR2);
  ::pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  ::signal(SIGUSR1, old);
}

TEST(Subprocess, HasItsOwnGroup) {
  EXPECT_EQ(RunShell("[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ]").exit_code, 0);
}

TEST(Subprocess, CanHaveItsOwnSession) {
  SpawnOptions options = Shell("[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo own");
  options.new_session = true;
  EXPECT_EQ(Subprocess::Run(options, Deadline::After(kSafety), {}).value().out, "own\n");
}

TEST(Subprocess, IsAskedToStopWhenTheDeadlinePasses) {
  const auto finished =
      Subprocess::Run({.argv = {"sleep", "1000"}}, Deadline::After(milliseconds(1)), {}, kSafety);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->end, End::kTimeout);
  EXPECT_EQ(finished->signal, SIGTERM);
}

TEST(Subprocess, AChildThatNeverStopsWritingStillMeetsTheDeadline) {
  SpawnOptions options{.argv = {"yes"}};
  options.max_output_bytes = 4;
  const auto finished = Subprocess::Run(options, Deadline::After(milliseconds(20)), {}, kSafety);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->end, End::kTimeout);
  EXPECT_EQ(finished->out, "y\ny\n");
}

TEST(Subprocess, IsKilledWhenItIgnoresTheRequest) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      Shell("trap '' TERM; " + cue.Give() + "while :; do sleep 1000; done"), cue, milliseconds(1));
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_EQ(finished.signal, SIGKILL);
}

TEST(Subprocess, AStoppedChildIsEndedToo) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(Shell(cue.Give() + "kill -STOP $$; echo on"), cue, kSafety);
  EXPECT_EQ(finished.end, End::kCancelled);
}

TEST(Subprocess, MayUseTheGraceToFinishInOrder) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      Shell("trap 'echo bye; exit 7' TERM; sleep 1000 & " + cue.Give() + "wait"), cue, kSafety);
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_EQ(finished.out, "bye\n");
}

TEST(Subprocess, TheRestOfTheGroupHasTheGraceTooWhenTheChildIsGone) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      Shell("(trap 'echo cleaned; exit 0' TERM; sleep 1000 & " + cue.Give() + "wait) & wait"), cue,
      kSafety);
  EXPECT_EQ(finished.signal, SIGTERM);
  EXPECT_EQ(finished.out, "cleaned\n");
}

TEST(Subprocess, KillsTheWholeGroupWhenTheDeadlinePasses) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      Shell("(trap '' TERM; sleep 1000) & echo $!; " + cue.Give() + "wait"), cue, milliseconds(1));
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_TRUE(IsDeadSoon(std::stoi(finished.out)));
}

TEST(Subprocess, AGrandchildThatKeepsThePipeOpenDoesNotHoldUs) {
  const Finished finished = RunShell("sleep 1000 & echo $!");
  EXPECT_EQ(finished.end, End::kExited);
  EXPECT_TRUE(IsDeadSoon(std::stoi(finished.out)));
}

TEST(Subprocess, AGrandchildThatNeverStopsWritingDoesNotHoldUs) {
  SpawnOptions options = Shell("yes & echo done >&2");
  options.max_output_bytes = 5;
  const auto finished = Subprocess::Run(options, Deadline::After(kSafety), {});
  EXPECT_EQ(finished.value().end, End::kExited);
  EXPECT_EQ(finished.value().err, "done\n");
}

TEST(Subprocess, AProcessThatLeftTheGroupDoesNotHoldUs) {
  const Finished finished = RunShell("setsid sleep 1000 & echo $!");
  EXPECT_EQ(finished.end, End::kExited);
  ::kill(std::stoi(finished.out), SIGKILL);
}

TEST(Subprocess, LeavesTheRestOfTheGroupAloneWhenTold) {
  SpawnOptions options = Shell("sleep 1000 >/dev/null 2>&1 & echo $!");
  options.kill_group_on_exit = false;
  const auto finished = Subprocess::Run(options, Deadline::After(kSafety), {});
  const pid_t left = std::stoi(finished.value().out);
  EXPECT_EQ(::kill(left, SIGKILL), 0);
  EXPECT_TRUE(IsDeadSoon(left));
}

TEST(Subprocess, IsNotStartedWhenAlreadyCancelled) {
  const TempDir dir;
  CancelSource source;
  source.Cancel();
  const auto finished = Subprocess::Run({.argv = {"touch", dir.Sub("file")}},
                                        Deadline::After(kSafety), source.token());
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::kCancelled);
  EXPECT_FALSE(Exists(dir.Sub("file")));
}

TEST(Subprocess, LeavesNeitherOrphanNorZombieBehind) {
  const TempDir dir;
  const Cue cue(dir);
  pid_t child_pid = 0;
  pid_t grandchild = 0;
  {
    auto child = Subprocess::Start(Shell("sleep 1000 & echo $!; " + cue.Give() + "wait")).value();
    ASSERT_TRUE(cue.Await());
    child.ReadOutput();
    child_pid = child.pid();
    grandchild = std::stoi(child.TakeFinished().out);
  }
  EXPECT_EQ(::waitpid(child_pid, nullptr, WNOHANG), -1);
  EXPECT_TRUE(IsDeadSoon(grandchild));
}

TEST(Subprocess, CanBeDrivenByHand) {
  auto started = Subprocess::Start({.argv = {"cat"}, .stdin_from = StdinFrom::kPipe});
  ASSERT_TRUE(started);
  Subprocess child = *std::move(started);
  EXPECT_FALSE(child.Reap());
  ASSERT_TRUE(WriteAll(child.stdin_fd(), "hello"));
  child.CloseInput();

  const Deadline deadline = Deadline::After(kSafety);
  while (child.stdout_fd() >= 0 && !deadline.Passed()) {
    pollfd out{.fd = child.stdout_fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&out, 1, deadline.PollTimeout()), 1);
    child.ReadOutput();
  }
  pollfd exit{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&exit, 1, deadline.PollTimeout()), 1);
  EXPECT_TRUE(child.Reap());
  const Finished finished = child.TakeFinished();
  EXPECT_EQ(finished.out, "hello");
  EXPECT_EQ(finished.exit_code, 0);
}

}  // namespace
}  // namespace stet
