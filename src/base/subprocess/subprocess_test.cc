#include "base/subprocess/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/subprocess/subprocess_fixture.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

using std::chrono::seconds;
using End = Finished::End;

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
  SpawnOptions options = ShellScript("printf abc; head -c 1000000 /dev/zero; printf abcdefg >&2");
  options.max_output_bytes = 5;
  const Finished finished = Subprocess::Run(options, Deadline::After(kSafety), {}).value();
  EXPECT_EQ(finished.out, std::string("abc\0\0", 5));
  EXPECT_EQ(finished.dropped_out, 999'998u);
  EXPECT_EQ(finished.err, "abcde");
  EXPECT_EQ(finished.dropped_err, 2u);
}

TEST(Subprocess, MergesStderrInOrder) {
  SpawnOptions options = ShellScript("printf a; printf b >&2; printf c");
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
  SpawnOptions options = ShellScript("[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && echo own");
  options.new_session = true;
  EXPECT_EQ(Subprocess::Run(options, Deadline::After(kSafety), {}).value().out, "own\n");
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
