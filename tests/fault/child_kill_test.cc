// A process is killed while a child session is in the middle of its turn. Afterwards nothing that
// was told is lost, in the parent or in the child, and the child goes on in another process.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "log/verify.h"
#include "tests/fault/faults.h"
#include "tests/model/task_fixture.h"

namespace stet::fault {
namespace {

constexpr std::chrono::seconds kChildPatience(60);

/// It writes a mark, and then waits for a reply that does not come.
constexpr std::string_view kHangs = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"echo one >>../marks"}}}]},
  {"fault":{"kind":"half_open"}}]})";
constexpr std::string_view kGoesOn = R"({"replies":[{"blocks":[{"text":"All done."}]}]})";

class ChildKillTest : public testing::Test {
 protected:
  void StartServer(std::string_view script) {
    auto started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    task_.Configure(emulator_->base_url(), test::kWires[0]);
  }
  [[nodiscard]] SpawnOptions Command(const std::vector<std::string>& more) const {
    SpawnOptions options = task_.Command({});
    options.argv = {STET_FAULT_CHILD, task_.home(), task_.project()};
    options.argv.insert(options.argv.end(), more.begin(), more.end());
    return options;
  }
  /// Kills it when its second request is at the server; what it said.
  std::string RunAndKill() {
    Result<Subprocess> program = Subprocess::Start(Command({}));
    EXPECT_TRUE(program) << program.error().Text();
    if (!program) return "";
    const Deadline deadline = Deadline::After(kChildPatience);
    pollfd end{.fd = program->pidfd(), .events = POLLIN, .revents = 0};
    while (emulator_->stats().requests < 2 && !deadline.Passed() && ::poll(&end, 1, 1) == 0) {
    }
    EXPECT_EQ(::kill(program->pid(), SIGKILL), 0);
    EXPECT_EQ(::poll(&end, 1, deadline.PollTimeout()), 1);
    EXPECT_TRUE(program->Reap());
    program->ReadOutput();
    return program->TakeFinished().out;
  }
  static void ExpectSound(const std::string& dir) {
    const Result<log::Verdict> verdict = log::Verify(dir);
    ASSERT_TRUE(verdict) << verdict.error().Text();
    EXPECT_TRUE(log::PlanRepair(*verdict).empty()) << log::PlanRepair(*verdict).front();
  }

  TempDir dir_;
  test::TaskProject task_{dir_.path() + "/task"};
  std::unique_ptr<emulator::Emulator> emulator_;
};

TEST_F(ChildKillTest, AChildGoesOnInAnotherProcessAndNothingIsDoneTwice) {
  ASSERT_NO_FATAL_FAILURE(StartServer(kHangs));
  const std::string told = RunAndKill();
  ASSERT_TRUE(told.starts_with("opened ses_")) << told;
  const std::string parent = told.substr(7, told.find(' ', 7) - 7);
  const std::size_t at = 7 + parent.size() + 1;
  const std::string child = told.substr(at, told.find('\n') - at);
  const std::string child_dir = task_.home() + "/sessions/" + parent + "/agents/" + child;
  const Acks before = EventsOf(*OpenToRead(child_dir));
  EXPECT_EQ(task_.marks(), "one\n");

  ASSERT_NO_FATAL_FAILURE(StartServer(kGoesOn));
  const Result<Finished> ran =
      Subprocess::Run(Command({parent, child}), Deadline::After(kChildPatience), {});
  ASSERT_TRUE(ran) << ran.error().Text();
  EXPECT_TRUE(ran->out.ends_with("ended completed All done.\n")) << ran->out << ran->err;
  EXPECT_EQ(task_.marks(), "one\n");
  const std::unique_ptr<log::Log> log = OpenToRead(child_dir);
  ASSERT_TRUE(log);
  const Acks after = EventsOf(*log);
  for (const auto& [id, ack] : before) EXPECT_EQ(after.contains(id) ? after.at(id) : Ack(), ack);
  EXPECT_EQ(log->index().state().user_messages, 1);
  EXPECT_TRUE(log->open_calls().empty());
  ExpectSound(child_dir);
  ExpectSound(task_.home() + "/sessions/" + parent);
}

}  // namespace
}  // namespace stet::fault
