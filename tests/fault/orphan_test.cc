// The real program is killed in the middle of commands that do all they can to outlive it. Two
// seconds later nothing of them may be left, in a PID namespace and without one.
#include <array>
#include <chrono>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/guard/guard_fixture.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

constexpr std::chrono::seconds kPatience(60);
constexpr std::chrono::seconds kAllowed(2);

/// Each writes a line to $UP when it is as hostile as it gets.
constexpr std::array kHostile = {
    "(sleep 1000 & echo >$UP; sleep 1000 &) ; sleep 1000",
    "(setsid bash -c '(setsid sleep 1000 &) ; echo >$UP; sleep 1000' &) ; sleep 1000",
    "setsid sleep 1000 & echo >$UP; wait",
    "trap '' TERM HUP INT QUIT; echo >$UP; while :; do sleep 1000; done",
    "yes | head -n 1000000000 | cat >/dev/null & yes | cat >/dev/null & echo >$UP; wait",
    "f() { [ $1 -eq 0 ] && exec sleep 1000; f $(($1-1)) & f $(($1-1)) & wait; }; f 5 & echo >$UP; "
    "wait",
    "nohup sleep 1000 >/dev/null 2>&1 & nohup setsid sleep 1000 >/dev/null 2>&1 & echo >$UP; wait",
    "sleep 1000 & disown -a; (sleep 1000 & disown -h); echo >$UP; sleep 1000",
    "echo >$UP; exec 0<&- 1>&- 2>&- 3>&- 4>&-; (setsid sleep 1000 &) ; exec sleep 1000",
    "(trap '' HUP; setsid sleep 1000) & echo >$UP; kill -9 $PPID; sleep 1000",
    "(trap '' HUP; setsid sleep 1000) & echo >$UP; kill -STOP $PPID; sleep 1000",
    "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo >$UP; wait",
    "f() { (f) & exit; }; f & f & f & echo >$UP; sleep 1000",
    "sleep 1000 & kill -STOP $!; (setsid sleep 1000 &) ; echo >$UP; kill -STOP $$; sleep 1000",
};

class OrphanTest : public testing::TestWithParam<bool> {
 protected:
  OrphanTest() : mark_("STET_TEST_MARK=" + temp_.path()) {
    const char* binary = std::getenv("STET_BIN");
    binary_ = binary == nullptr ? "" : binary;
    EXPECT_FALSE(binary_.empty()) << "$STET_BIN names the program to test; ./test sets it";
    EXPECT_TRUE(MakeDirs(temp_.Sub("work")));
    EXPECT_EQ(::mkfifo(temp_.Sub("up").c_str(), 0600), 0);
    up_.reset(::open(temp_.Sub("up").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  }

  [[nodiscard]] Result<Subprocess> StartProgram(const char* script) const {
    RETURN_IF_ERROR(ReplaceFile(temp_.Sub("work/hostile"), script, Durable::kNo));
    SpawnOptions options;
    options.argv = {binary_, "-p", "run . ./hostile", "--permission-mode", "bypass"};
    options.cwd = temp_.Sub("work");
    options.env =
        std::vector<std::string>{mark_, "UP=" + temp_.Sub("up"), "STET_HOME=" + temp_.Sub("home"),
                                 std::string("PATH=") + std::getenv("PATH"), "STET_IN_SANDBOX=1"};
    if (!GetParam()) options.env->emplace_back("STET_NO_PID_NAMESPACE=1");
    return Subprocess::Start(std::move(options));
  }

  /// Until the command says so.
  [[nodiscard]] bool AwaitUp() const {
    pollfd up{.fd = up_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&up, 1, Deadline::After(kPatience).PollTimeout()) != 1) return false;
    std::array<char, 64> lines;
    return ::read(up_.get(), lines.data(), lines.size()) > 0;
  }

  /// Until something of the command is there, whatever it is doing.
  [[nodiscard]] bool AwaitFirstSign(pid_t program) const {
    const Deadline deadline = Deadline::After(kPatience);
    while (!deadline.Passed()) {
      for (const pid_t pid : ProcessesWith(mark_))
        if (pid != program) return true;
    }
    return false;
  }

  void DropLines() const {
    std::array<char, 256> lines;
    while (::read(up_.get(), lines.data(), lines.size()) > 0) {
    }
  }

  TempDir temp_;
  const std::string mark_;
  std::string binary_;
  Fd up_;
};

INSTANTIATE_TEST_SUITE_P(, OrphanTest, testing::Bool(), [](const auto& one) {
  return one.param ? std::string("Namespace") : std::string("Subreaper");
});

TEST_P(OrphanTest, NothingOutlivesTheProgram) {
  int kills = 0;
  for (; kills < TestScale().orphan_kills; ++kills) {
    const char* script = kHostile[static_cast<std::size_t>(kills) % kHostile.size()];
    SCOPED_TRACE(testing::Message() << "kill " << kills << ": " << script);
    DropLines();
    Result<Subprocess> program = StartProgram(script);
    ASSERT_TRUE(program) << program.error().Text();
    // The first round knows that all are at their worst; later ones also catch them earlier.
    const bool early = static_cast<std::size_t>(kills) >= kHostile.size() && kills % 3 == 0;
    ASSERT_TRUE(early ? AwaitFirstSign(program->pid()) : AwaitUp());
    ASSERT_EQ(::kill(program->pid(), SIGKILL), 0);
    ASSERT_EQ(AwaitNone(mark_, Deadline::After(kAllowed)), std::vector<pid_t>());
  }
  RecordProperty("kills", kills);
  std::printf("[ kills    ] %d during hostile commands\n", kills);
}

}  // namespace
}  // namespace stet::fault
