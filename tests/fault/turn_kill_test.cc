// The real program is killed at random instants of a task, and nothing but the program. Afterwards
// the session goes on: nothing that was told is lost, nothing with effects is done twice, the next
// request is what its server wants, and the task comes to the same end.
#include <algorithm>
#include <chrono>
#include <map>

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/guard/guard_fixture.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/source_dir_fixture.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "log/verify.h"
#include "tests/fault/faults.h"
#include "tests/model/history_rules.h"
#include "tests/model/task_fixture.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

using test::Act;
using test::Wire;

constexpr std::chrono::seconds kTurnPatience(60);
constexpr std::chrono::seconds kTurnAllowed(2);  // For what the program ran to end behind it.

/// What a log says about a task so far.
struct Story {
  bool asked = false;  // The user's message is there.
  bool completed = false;
  int model_calls = 0;
  int results = 0;
  std::map<std::string, int> started;  // By tool.
  std::vector<std::string> twice;      // Calls that were started again.
  std::vector<protocol::FileFact> writes;
};

Story ReadStory(const log::Log& log) {
  Story story;
  std::map<std::string, int> starts;
  const Status read = log.Read(0, [&](const log::Entry&, std::string_view line) {
    const Result<protocol::Event> event = protocol::DecodeEvent(line);
    EXPECT_TRUE(event) << event.error().Text();
    if (!event) return false;
    const protocol::PayloadVariant& payload = event->payload;
    if (std::holds_alternative<protocol::UserMessage>(payload)) {
      story.asked = true;
      story.completed = false;
    } else if (std::holds_alternative<protocol::ToolResult>(payload)) {
      ++story.results;
    } else if (const auto* turn = std::get_if<protocol::Turn>(&payload)) {
      story.completed = turn->phase == "end" && turn->reason == "completed";
    } else if (const auto* call = std::get_if<protocol::ModelCall>(&payload)) {
      if (call->phase == "start") ++story.model_calls;
    } else if (const auto* started = std::get_if<protocol::ToolStarted>(&payload)) {
      ++story.started[started->tool];
      if (++starts[started->tool_call_id] > 1) story.twice.push_back(started->tool_call_id);
    } else if (const auto* fact = std::get_if<protocol::FileFact>(&payload)) {
      if (fact->op == "write") story.writes.push_back(*fact);
    }
    return true;
  });
  EXPECT_TRUE(read) << read.error().Text();
  return story;
}

/// How many calls the first `steps` steps of the task make.
int CallsOfSteps(std::size_t steps) {
  int calls = 0;
  const std::vector<std::string> all = test::TaskSteps();
  for (std::size_t i = 0; i < std::min(steps, all.size()); ++i) {
    for (std::size_t at = all[i].find("{\"call\""); at != std::string::npos;
         at = all[i].find("{\"call\"", at + 1))
      ++calls;
  }
  return calls;
}

class TurnKillTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartServer(Script()));
    // How long it takes, and how much it writes, when it is not killed.
    const auto began = SystemClock().Steady();
    const Finished ran = task_.Run({"do the task"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    takes_ = std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began);
    log_bytes_ = LogBytes().size();
    ASSERT_GT(log_bytes_, 0U);
  }

  /// A server of its own for every life: what a killed program asked may reach the one before it
  /// late, and must not take a reply that is meant for the next.
  void StartServer(const std::string& script) {
    const std::string schemas = SourceDir() + "/build/wire/schemas";
    ASSERT_TRUE(Exists(schemas)) << "made by scripts/wire_schemas: " << schemas;
    auto started = emulator::Emulator::Start(script, {.port = 0, .record = "", .schemas = schemas});
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    task_.Configure(emulator_->base_url(), wire_);
  }

  /// With `hangs` it ends with a command that does not.
  static std::string Script(bool hangs = false) {
    std::vector<std::string> steps = test::TaskSteps();
    if (hangs)
      steps.back() = test::CallBlock("Bash", R"({"command":"(setsid sleep 1000 &); sleep 1000"})");
    return test::TaskScript(steps, true);
  }

  [[nodiscard]] std::string LogBytes() const {
    const std::string dir = task_.SessionDir();
    return dir.empty() ? "" : ReadFile(dir + "/events.jsonl").value_or("");
  }

  /// One life: the task begins, is killed somewhere, and comes to its end.
  void Live(int number) {
    wire_ = test::kWires[static_cast<std::size_t>(number) % test::kWires.size()];
    SCOPED_TRACE(testing::Message() << "kill " << number << ", " << wire_.api);
    task_.Reset();
    const bool hangs = random_.Below(3) == 0;
    ASSERT_NO_FATAL_FAILURE(StartServer(Script(hangs)));
    std::string told;
    const std::string before = RunAndKill(told);
    if (HasFatalFailure()) return;
    CheckWhatWasTold(told);
    GoOn(before, random_.Below(2) == 0);
  }

  /// Gives the log as it was seen just before the kill, and what the program said.
  std::string RunAndKill(std::string& told) {
    Result<Subprocess> program =
        Subprocess::Start(task_.Command({"--verbose", "do the task"}, {mark_}));
    EXPECT_TRUE(program) << program.error().Text();
    if (!program) return "";
    AwaitInstant(*program);
    std::string seen = LogBytes();
    EXPECT_EQ(::kill(program->pid(), SIGKILL), 0);
    pollfd end{.fd = program->pidfd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&end, 1, Deadline::After(kTurnPatience).PollTimeout()), 1);
    EXPECT_TRUE(program->Reap());
    program->ReadOutput();
    told = program->TakeFinished().err;
    // A command may hold the pipes; all of them must go by themselves.
    EXPECT_EQ(AwaitNone(mark_, Deadline::After(kTurnAllowed)), std::vector<pid_t>());
    seen.resize(seen.rfind('\n') + 1);
    return seen;
  }

  /// A time, or so many bytes in the log, or so many requests, and then a moment.
  void AwaitInstant(const Subprocess& program) {
    const std::uint64_t how = random_.Below(3);
    const Deadline deadline = Deadline::After(
        takes_ * (how == 0 ? static_cast<std::int64_t>(random_.Below(1000)) : 4000) / 1000);
    const std::uint64_t bytes = random_.Below(log_bytes_);
    const auto requests = static_cast<std::int64_t>(1 + random_.Below(test::TaskSteps().size()));
    std::string log;
    while (!deadline.Passed()) {
      if (how == 1) {
        if (log.empty() && !task_.SessionDir().empty()) log = task_.SessionDir() + "/events.jsonl";
        const auto stat = StatFile(log);
        if (stat && stat->size >= bytes) break;
      } else if (how == 2 && emulator_->stats().requests >= requests) {
        break;
      }
      pollfd end{.fd = program.pidfd(), .events = POLLIN, .revents = 0};
      const timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
      if (::ppoll(&end, 1, &moment, nullptr) != 0) return;  // It has ended by itself.
    }
    for (std::uint64_t spin = random_.Below(3'000'000); spin > 0; --spin) asm volatile("");
  }

  /// The log has all that could be seen outside of it: on the screen, on the disk, at the server.
  void CheckWhatWasTold(const std::string& told) {
    Story story;
    if (!task_.SessionDir().empty() && !LogBytes().empty()) {
      const std::unique_ptr<log::Log> log = OpenToRead(task_.SessionDir());
      ASSERT_TRUE(log);
      story = ReadStory(*log);
    }
    EXPECT_TRUE(story.twice.empty()) << story.twice.front();
    const std::size_t requests = emulator_->Requests().size();
    EXPECT_GE(story.model_calls, static_cast<int>(requests)) << "asked before it was written down";
    EXPECT_GE(story.results, requests == 0 ? 0 : CallsOfSteps(requests - 1));
    for (const std::string tool : {"Read", "Glob", "Edit", "Write", "Bash"}) {
      int lines = told.starts_with(tool + " ") ? 1 : 0;
      for (std::size_t at = told.find("\n" + tool + " "); at != std::string::npos;
           at = told.find("\n" + tool + " ", at + 1))
        ++lines;
      EXPECT_GE(story.started[tool], lines) << tool;
      told_ += lines;
    }
    const std::string marks = task_.marks();
    EXPECT_GE(story.started["Bash"], std::ranges::count(marks, '\n')) << marks;
    for (const Act& act : test::TaskActs()) {
      if (act.tool == "Bash" || !task_.IsDone(act)) continue;
      const std::string hash = Sha256Hex(task_.File(act.file));
      EXPECT_TRUE(std::ranges::any_of(
          story.writes, [&](const protocol::FileFact& fact) { return fact.after == hash; }))
          << act.file << " was written and the log does not know it";
    }
    asked_ = story.asked;
    completed_ = story.completed;
  }

  /// What the model still has to do: it looks before it does anything again.
  [[nodiscard]] std::vector<std::string> StepsLeft() const {
    std::vector<std::string> steps = {test::TaskReads()};
    for (const Act& act : test::TaskActs()) {
      if (!task_.IsDone(act)) steps.push_back(act.call);
    }
    steps.push_back(fmt::format(R"({{"text":"{}"}})", test::kReport));
    return steps;
  }

  void GoOn(const std::string& before, bool with_prompt) {
    ASSERT_NO_FATAL_FAILURE(StartServer(test::TaskScript(StepsLeft(), true)));
    const bool has_session = !task_.SessionDir().empty() && !LogBytes().empty();
    if (!with_prompt) {
      const Finished ran = task_.Run({"-c"});
      if (asked_ && !completed_) {
        ExpectReport(ran);
        ASSERT_TRUE(emulator_->SetScript(test::TaskScript(StepsLeft(), true)));
        ++continued_;
      } else {
        EXPECT_EQ(ran.exit_code, 1) << ran.out;
        EXPECT_TRUE(ran.err.contains("nothing to go on") || !has_session) << ran.err;
        EXPECT_EQ(emulator_->Requests().size(), 0U);
      }
    }
    const std::string dir = task_.SessionDir();
    ExpectReport(task_.Run(dir.empty() ? std::vector<std::string>{"go on"}
                                       : std::vector<std::string>{"-c", "go on"}));
    task_.ExpectDone();
    ExpectSound(before);
  }

  void ExpectReport(const Finished& ran) {
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, std::string(test::kReport) + "\n") << ran.err;
    for (const emulator::RequestRecord& request : emulator_->Requests()) {
      EXPECT_EQ(test::BrokenRule(wire_.api, request.body.text), "") << request.body.text;
      EXPECT_FALSE(request.schema_errors) << request.body.text;
      ++requests_;
    }
  }

  void ExpectSound(const std::string& before) {
    EXPECT_TRUE(LogBytes().starts_with(before)) << "a line that was written is gone";
    const Result<log::Verdict> verdict = log::Verify(task_.SessionDir());
    ASSERT_TRUE(verdict) << verdict.error().Text();
    EXPECT_TRUE(verdict->sound()) << log::FaultTitle(verdict->faults.front().kind) << ": "
                                  << verdict->faults.front().detail;
    const std::unique_ptr<log::Log> log = OpenToRead(task_.SessionDir());
    ASSERT_TRUE(log);
    const Story story = ReadStory(*log);
    EXPECT_TRUE(story.twice.empty()) << story.twice.front();
    EXPECT_TRUE(log->open_calls().empty());
  }

  TempDir temp_;
  const std::string mark_ = "STET_TEST_MARK=" + temp_.path();
  test::TaskProject task_{temp_.Sub("task")};
  std::unique_ptr<emulator::Emulator> emulator_;
  Wire wire_ = test::kWires[0];
  Random random_{11};
  std::chrono::milliseconds takes_{0};
  std::uint64_t log_bytes_ = 0;

  bool asked_ = false;  // Of the life under way, when it was killed.
  bool completed_ = false;
  int told_ = 0;
  int continued_ = 0;
  int requests_ = 0;
};

TEST_F(TurnKillTest, ATaskComesToTheSameEndWhereverItIsKilled) {
  int kills = 0;
  for (; kills < TestScale().turn_kills; ++kills) {
    Live(kills);
    if (HasFailure()) break;
  }
  std::printf(
      "[ kills    ] %d of a task of %d ms; %d continued without a word, %d requests, %d "
      "calls told\n",
      kills, static_cast<int>(takes_.count()), continued_, requests_, told_);
  EXPECT_GT(continued_, 0);
}

TEST_F(TurnKillTest, EveryPrefixOfTheLogGoesOn) {
  const std::string log = LogBytes();
  const std::string dir = task_.SessionDir();
  const std::string answer = R"({"strict":true,"replies":[{"blocks":[{"text":"ok"}]}]})";
  int lines = 0;
  for (std::size_t end = log.find('\n'); end != std::string::npos; end = log.find('\n', end + 1)) {
    SCOPED_TRACE(testing::Message() << "cut after line " << ++lines);
    ASSERT_TRUE(RemoveTree(dir + "/index"));
    ASSERT_TRUE(ReplaceFile(dir + "/events.jsonl", log.substr(0, end + 1), Durable::kNo));
    const Story story = ReadStory(*OpenToRead(dir));
    wire_ = test::kWires[static_cast<std::size_t>(lines) % test::kWires.size()];
    task_.Configure(emulator_->base_url(), wire_);
    ASSERT_TRUE(emulator_->SetScript(answer));
    const Finished ran = task_.Run({"-c"});
    EXPECT_EQ(ran.exit_code, story.asked && !story.completed ? 0 : 1) << ran.err;
    ASSERT_TRUE(emulator_->SetScript(answer));
    const Finished more = task_.Run({"-c", "and now?"});
    EXPECT_EQ(more.out, "ok\n") << more.err;
    for (const emulator::RequestRecord& request : emulator_->Requests())
      EXPECT_EQ(test::BrokenRule(wire_.api, request.body.text), "") << request.body.text;
    if (HasFailure()) return;
  }
  EXPECT_GT(lines, 30);
}

}  // namespace
}  // namespace stet::fault
