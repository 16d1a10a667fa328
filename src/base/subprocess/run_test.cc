// How Subprocess ends things: deadlines, cancelling, groups.
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
#include "base/subprocess/subprocess_fixture.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using End = Finished::End;

/// True once the process is dead, whether or not its parent has reaped it.
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
  /// A sleeper that gives the cue itself: a shell's child loses a signal that comes before its
  /// exec.
  [[nodiscard]] std::string GiveAndSleep() const {
    return "sh -c '" + Give() + "exec sleep 1000' & ";
  }
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

TEST(SubprocessEnd, IsAskedToStopWhenTheDeadlinePasses) {
  const auto finished =
      Subprocess::Run({.argv = {"sleep", "1000"}}, Deadline::After(milliseconds(1)), {}, kSafety);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->end, End::kTimeout);
  EXPECT_EQ(finished->signal, SIGTERM);
}

TEST(SubprocessEnd, AChildThatNeverStopsWritingStillMeetsTheDeadline) {
  SpawnOptions options{.argv = {"yes"}};
  options.max_output_bytes = 4;
  const auto finished = Subprocess::Run(options, Deadline::After(milliseconds(20)), {}, kSafety);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->end, End::kTimeout);
  EXPECT_TRUE(std::string_view("y\ny\n").starts_with(finished->out)) << finished->out;
}

TEST(SubprocessEnd, IsKilledWhenItIgnoresTheRequest) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished =
      RunUntilCue(ShellScript("trap '' TERM; " + cue.Give() + "while :; do sleep 1000; done"), cue,
                  milliseconds(1));
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_EQ(finished.signal, SIGKILL);
}

TEST(SubprocessEnd, AStoppedChildIsEndedToo) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished =
      RunUntilCue(ShellScript(cue.Give() + "kill -STOP $$; echo on"), cue, kSafety);
  EXPECT_EQ(finished.end, End::kCancelled);
}

TEST(SubprocessEnd, MayUseTheGraceToFinishInOrder) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      ShellScript("trap 'echo bye; exit 7' TERM; " + cue.GiveAndSleep() + "wait"), cue, kSafety);
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_EQ(finished.out, "bye\n");
}

TEST(SubprocessEnd, TheRestOfTheGroupHasTheGraceTooWhenTheChildIsGone) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished = RunUntilCue(
      ShellScript("(trap 'echo cleaned; exit 0' TERM; " + cue.GiveAndSleep() + "wait) & wait"), cue,
      kSafety);
  EXPECT_EQ(finished.signal, SIGTERM);
  EXPECT_EQ(finished.out, "cleaned\n");
}

TEST(SubprocessEnd, KillsTheWholeGroupWhenTheDeadlinePasses) {
  const TempDir dir;
  const Cue cue(dir);
  const Finished finished =
      RunUntilCue(ShellScript("(trap '' TERM; sleep 1000) & echo $!; " + cue.Give() + "wait"), cue,
                  milliseconds(1));
  EXPECT_EQ(finished.end, End::kCancelled);
  EXPECT_TRUE(IsDeadSoon(std::stoi(finished.out)));
}

TEST(SubprocessEnd, AGrandchildThatKeepsThePipeOpenDoesNotHoldUs) {
  const Finished finished = RunShell("sleep 1000 & echo $!");
  EXPECT_EQ(finished.end, End::kExited);
  EXPECT_TRUE(IsDeadSoon(std::stoi(finished.out)));
}

TEST(SubprocessEnd, AGrandchildThatNeverStopsWritingDoesNotHoldUs) {
  SpawnOptions options = ShellScript("yes & echo done >&2");
  options.max_output_bytes = 5;
  const auto finished = Subprocess::Run(options, Deadline::After(kSafety), {});
  EXPECT_EQ(finished.value().end, End::kExited);
  EXPECT_EQ(finished.value().err, "done\n");
}

TEST(SubprocessEnd, AProcessThatLeftTheGroupDoesNotHoldUs) {
  const Finished finished = RunShell("setsid sleep 1000 & echo $!");
  EXPECT_EQ(finished.end, End::kExited);
  ::kill(std::stoi(finished.out), SIGKILL);
}

TEST(SubprocessEnd, LeavesTheRestOfTheGroupAloneWhenTold) {
  SpawnOptions options = ShellScript("sleep 1000 >/dev/null 2>&1 & echo $!");
  options.kill_group_on_exit = false;
  const auto finished = Subprocess::Run(options, Deadline::After(kSafety), {});
  const pid_t left = std::stoi(finished.value().out);
  EXPECT_EQ(::kill(left, SIGKILL), 0);
  EXPECT_TRUE(IsDeadSoon(left));
}

TEST(SubprocessEnd, IsNotStartedWhenAlreadyCancelled) {
  const TempDir dir;
  CancelSource source;
  source.Cancel();
  const auto finished = Subprocess::Run({.argv = {"touch", dir.Sub("file")}},
                                        Deadline::After(kSafety), source.token());
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().code, Code::kCancelled);
  EXPECT_FALSE(Exists(dir.Sub("file")));
}

TEST(SubprocessEnd, LeavesNeitherOrphanNorZombieBehind) {
  const TempDir dir;
  const Cue cue(dir);
  pid_t child_pid = 0;
  pid_t grandchild = 0;
  {
    auto child =
        Subprocess::Start(ShellScript("sleep 1000 & echo $!; " + cue.Give() + "wait")).value();
    ASSERT_TRUE(cue.Await());
    child.ReadOutput();
    child_pid = child.pid();
    grandchild = std::stoi(child.TakeFinished().out);
  }
  EXPECT_EQ(::waitpid(child_pid, nullptr, WNOHANG), -1);
  EXPECT_TRUE(IsDeadSoon(grandchild));
}

}  // namespace
}  // namespace stet
