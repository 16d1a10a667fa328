#include "base/guard/guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/guard/descendants.h"
#include "base/guard/guard_fixture.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

using std::chrono::seconds;
using End = Finished::End;

/// Longer than any test takes; reaching it is a failure.
constexpr seconds kSafety(60);

class CommandTest : public testing::Test {
 protected:
  explicit CommandTest(bool in_namespace)
      : in_namespace_(in_namespace), mark_("STET_TEST_MARK=" + temp_.path()) {}

  [[nodiscard]] SpawnOptions Guarded(std::vector<std::string> argv) const {
    std::vector<std::string> env{mark_};
    for (char** own = environ; *own != nullptr; ++own) env.emplace_back(*own);
    if (!in_namespace_) env.emplace_back("STET_NO_PID_NAMESPACE=1");
    return {.argv = std::move(argv),
            .env = std::move(env),
            .cwd = temp_.path(),
            .new_session = true,
            .guarded = true};
  }
  [[nodiscard]] SpawnOptions Bash(std::string script) const {
    return Guarded({"bash", "-c", std::move(script)});
  }
  [[nodiscard]] Finished Run(std::string script) const {
    return Subprocess::Run(Bash(std::move(script)), Deadline::After(kSafety), {}).value();
  }
  [[nodiscard]] std::vector<pid_t> Left() const { return ProcessesWith(mark_); }

  /// A command that has said a byte on its output.
  [[nodiscard]] Subprocess StartAndHear(std::string script) const {
    Subprocess child = Subprocess::Start(Bash(std::move(script))).value();
    pollfd out{.fd = child.stdout_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&out, 1, 30'000), 1);
    return child;
  }

  TempDir temp_;
  const bool in_namespace_;
  const std::string mark_;
};

/// Every test runs in a PID namespace, where we may have one, and without.
class GuardTest : public CommandTest, public testing::WithParamInterface<bool> {
 protected:
  GuardTest() : CommandTest(GetParam()) {}
};

/// What a command in a namespace cannot do.
class SubreaperTest : public CommandTest {
 protected:
  SubreaperTest() : CommandTest(false) {}
};

INSTANTIATE_TEST_SUITE_P(, GuardTest, testing::Bool(), [](const auto& one) {
  return one.param ? std::string("Namespace") : std::string("Subreaper");
});

TEST_P(GuardTest, HowTheCommandEndedIsSaidTruthfully) {
  const Finished exited = Run("printf out; printf err >&2; exit 7");
  EXPECT_EQ(exited.end, End::kExited);
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_EQ(exited.out, "out");
  EXPECT_EQ(exited.err, "err");
  const Finished killed = Run("kill -SEGV $$");
  EXPECT_EQ(killed.end, End::kKilledBySignal);
  EXPECT_EQ(killed.signal, SIGSEGV);
}

TEST_P(GuardTest, AProgramThatCannotBeStartedIsAnError) {
  const auto missing = Subprocess::Start(Guarded({"no-such-program-of-ours"}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_EQ(missing.error().message.find("guard"), std::string::npos) << missing.error().Text();
  ASSERT_TRUE(ReplaceFile(temp_.Sub("plain"), "text", Durable::kNo));
  const auto denied = Subprocess::Start(Guarded({temp_.Sub("plain")}));
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, Code::kDenied);
}

/// Its number may be nobody's by the time anybody looks for it.
TEST_P(GuardTest, AGuardThatEndsAtOnceIsHeardOfAllTheSame) {
  for (int i = 0; i < 200; ++i) {
    SpawnOptions options = Guarded({"true"});
    options.cwd = temp_.Sub("absent");
    const Result<Finished> ran = Subprocess::Run(std::move(options), Deadline::After(kSafety), {});
    ASSERT_FALSE(ran);
    ASSERT_EQ(ran.error().code, Code::kNotFound) << ran.error().Text();
  }
}

TEST_P(GuardTest, TheCommandGetsDefaultSignalsAndNoDescriptorOfOurs) {
  // The last eight digits: those of libc's own signals are a sanitizer's as well.
  SpawnOptions options =
      Guarded({"sed", "-nE", "s/^(Sig(Blk|Ign|Cgt)).*(.{8})$/\\1 \\3/p", "/proc/self/status"});
  const auto guarded = Subprocess::Run(options, Deadline::After(kSafety), {});
  options.guarded = false;
  const auto plain = Subprocess::Run(options, Deadline::After(kSafety), {});
  ASSERT_TRUE(guarded && plain);
  EXPECT_EQ(guarded->out, plain->out);
  EXPECT_EQ(Run("exec ls /proc/self/fd | tr '\\n' ' '").out, "0 1 2 3 ") << "3 is of ls";
}

TEST_P(GuardTest, WhatACommandLeavesBehindIsKilled) {
  EXPECT_EQ(Run("(setsid nohup sleep 1000 >/dev/null 2>&1 &) ; sleep 1000 & disown -a;"
                "bash -c 'trap \"\" TERM HUP INT; sleep 1000; sleep 1000' &"
                "exit 3")
                .exit_code,
            3);
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_P(GuardTest, AForkTreeIsKilled) {
  {
    const Subprocess child = StartAndHear(
        "f() { [ $1 -eq 0 ] && { printf x; exec sleep 1000; }; f $(($1-1)) & f $(($1-1)) & wait; };"
        "f 5");
    EXPECT_GT(Left().size(), 4U);
  }
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_P(GuardTest, ThoseWhoNeverStopForkingAreKilled) {
  {
    const Subprocess child = StartAndHear("printf x; f() { (f) & exit; }; f & f & f & sleep 1000");
  }
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_F(SubreaperTest, ACommandThatKillsItsParentIsKilled) {
  EXPECT_EQ(Run("(trap '' HUP; setsid sleep 1000) & kill -9 $PPID; sleep 1000").end,
            End::kKilledBySignal);
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_F(SubreaperTest, ACommandThatKillsTheGuardIsKilled) {
  EXPECT_EQ(Run("kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep 1000").end, End::kKilledBySignal);
  EXPECT_EQ(AwaitNone(mark_, Deadline::After(kSafety)), std::vector<pid_t>());
}

TEST_F(SubreaperTest, AStoppedGuardDoesNotHoldUs) {
  {
    const Subprocess child = StartAndHear("kill -STOP $PPID; printf x; sleep 1000");
  }
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_P(GuardTest, ASignalReachesAllAndLeavesThemTimeToEnd) {
  Subprocess child = StartAndHear(
      "bash -c 'trap \"sleep 0.2; echo cleaned >done; exit\" TERM;"
      " setsid sleep 1000 & printf x; wait' & wait");
  child.Kill(SIGTERM);
  pollfd exit{.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&exit, 1, 30'000), 1);
  ASSERT_TRUE(child.Reap());
  EXPECT_EQ(child.TakeFinished().signal, SIGTERM);
  EXPECT_EQ(ReadFile(temp_.Sub("done")).value_or(""), "cleaned\n");
  EXPECT_EQ(Left(), std::vector<pid_t>());
}

TEST_P(GuardTest, ClosedDescriptorsAreSeenWhileTheCommandRuns) {
  Subprocess child = StartAndHear("exec >&- 2>&- <&-; exec sleep 1000");
  child.ReadOutput();
  EXPECT_EQ(child.stdout_fd(), -1);
  EXPECT_FALSE(child.Reap());
}

TEST_P(GuardTest, TheGuardsNameSaysWhatItIs) {
  const Subprocess child = StartAndHear("printf x; sleep 1000");
  const std::string proc = "/proc/" + std::to_string(child.pid());
  EXPECT_EQ(ReadFile(proc + "/comm").value_or(""), "stet-guard\n");
  const std::string arguments = ReadFile(proc + "/cmdline").value_or("");
  EXPECT_EQ(arguments.find_last_not_of('\0'), std::string_view("stet-guard").size() - 1);
  EXPECT_TRUE(arguments.starts_with("stet-guard"));
}

TEST_P(GuardTest, WhatACommandStartsIsKnownForIt) {
  const Subprocess child = StartAndHear("(setsid sleep 1000 &) ; printf x; sleep 1000");
  EXPECT_FALSE(guard::IsUnderGuard(::getpid()));
  EXPECT_FALSE(guard::IsUnderGuard(::getppid()));
  // What is in the background comes to its name a moment later.
  std::vector<pid_t> started = Left();
  for (const Deadline deadline = Deadline::After(std::chrono::seconds(20));
       started.size() < 2 && !deadline.Passed();)
    started = Left();
  EXPECT_GE(started.size(), 2U);
  for (const pid_t pid : started) EXPECT_TRUE(guard::IsUnderGuard(pid)) << pid;
  EXPECT_TRUE(guard::IsUnderGuard(0)) << "one that cannot be seen";
}

TEST_P(GuardTest, ANamespaceHasItsOwnProcesses) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  const std::string pid = Run("echo $PPID; [ -e /proc/$PPID ] && ls -d /proc/$$ >&2").out;
  EXPECT_EQ(pid == "1\n", GetParam()) << pid;
}

/// One child with one of its own, which are waiting until this one dies.
class Family {
 public:
  Family() {
    EXPECT_EQ(::pipe2(ready_, O_CLOEXEC), 0);
    child_ = ::fork();
    if (child_ == 0) {
      const pid_t inner = ::fork();
      if (inner > 0) [[maybe_unused]]
        const ssize_t told = ::write(ready_[1], &inner, sizeof inner);
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(ready_[0], &grandchild_, sizeof grandchild_), ssize_t{sizeof grandchild_});
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() {
    ::kill(grandchild_, SIGKILL);
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(ready_[0]);
    ::close(ready_[1]);
  }

  [[nodiscard]] pid_t child() const { return child_; }
  [[nodiscard]] pid_t grandchild() const { return grandchild_; }

 private:
  int ready_[2] = {};
  pid_t child_ = -1;
  pid_t grandchild_ = -1;
};

TEST(DescendantsTest, BothSourcesFindTheSame) {
  const Family family;
  const std::vector<guard::Descendant> expected{
      {.pid = family.grandchild(), .parent = family.child()}};
  EXPECT_EQ(guard::Descendants(family.child(), guard::From::kStat), expected);
  if (guard::BestSource() != guard::From::kChildren) GTEST_SKIP() << "this kernel has one only";
  EXPECT_EQ(guard::Descendants(family.child(), guard::From::kChildren), expected);
}

TEST(DescendantsTest, WhoHasAnotherParentIsNotSignalled) {
  const Family family;
  guard::Signal({{.pid = family.child(), .parent = family.grandchild()}}, SIGKILL);
  EXPECT_EQ(::waitpid(family.child(), nullptr, WNOHANG), 0);
  guard::Signal({{.pid = family.child(), .parent = ::getpid()}}, SIGKILL);
  EXPECT_EQ(::waitpid(family.child(), nullptr, 0), family.child());
}

}  // namespace
}  // namespace stet
