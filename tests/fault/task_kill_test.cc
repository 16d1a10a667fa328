// The real program is killed at random instants while commands end in its background and hooks say
// things; sometimes the leaf is moved before the session goes on. Whatever happened: every path has
// one item for each end of a task that it started, every owed event is paid once, no request has a
// notice twice, and none that follows one which had it lacks it.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "emulator/emulator.h"
#include "log/tree.h"
#include "log/verify.h"
#include "tests/fault/faults.h"
#include "tests/model/history_rules.h"
#include "tests/model/task_fixture.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

using test::CallBlock;
using test::Wire;

constexpr std::chrono::seconds kEndTime(60);

std::size_t TimesIn(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// A few commands for the background, which end while others are waited for.
std::string BackgroundScript() {
  const auto background = [](std::string_view command) {
    return CallBlock("Bash", fmt::format(R"({{"command":"{}","background":true}})", command));
  };
  const auto wait = [](std::string_view command) {
    return CallBlock("Bash", fmt::format(R"({{"command":"{}"}})", command));
  };
  const std::vector<std::string> steps = {
      background("sleep 0.01; echo a") + "," + background("sleep 0.04; echo b; exit 3"),
      wait("sleep 0.01"),
      background("true") + "," + wait("sleep 0.02"),
      CallBlock("Bash", R"({"command":"echo c; sleep 0.02","wait_time":0})"),
      background("sleep 1000") + "," + wait("sleep 0.02"),
      CallBlock("BashTask", R"({"action":"read","task_id":"shell-1"})"),
  };
  std::string replies;
  for (const std::string& step : steps) replies += fmt::format(R"({{"blocks":[{}]}},)", step);
  return fmt::format(R"({{"replies":[{}{{"times":0,"blocks":[{{"text":"So be it."}}]}}]}})",
                     replies);
}

/// A log, as far as it says what is owed and paid.
struct OwedLedger {
  std::map<std::string, std::string> call_of;  // By task.
  std::map<std::string, int> ends;             // Of a task.
  std::map<std::string, std::string> owed;     // Texts by id.
  std::map<std::string, int> paid;             // Anywhere, by key.
};

class TaskKillTest : public testing::Test {
 protected:
  void SetUp() override {
    StartServer(BackgroundScript());
    const auto began = SystemClock().Steady();
    const Finished ran = task_.Run({"do it"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    takes_ = std::chrono::duration_cast<std::chrono::milliseconds>(SystemClock().Steady() - began);
  }

  /// A server of its own for every run of the program: a request of a killed one may come late.
  void StartServer(const std::string& script) {
    auto started = emulator::Emulator::Start(script);
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    task_.Configure(emulator_->base_url(), wire_);
    const std::string path = task_.home() + "/config.toml";
    // Its words are new each time.
    const std::string hook =
        "[[hooks.SessionStart]]\ncommand='''echo xyzzy-$$-end'''\n"
        "[[hooks.UserPromptSubmit]]\ncommand='''echo xyzzy-$$-end'''\n";
    ASSERT_TRUE(ReplaceFile(path, ReadFile(path).value_or("") + hook, Durable::kNo));
  }

  [[nodiscard]] bool HasSession() const {
    const std::string dir = task_.SessionDir();
    return !dir.empty() && !ReadFile(dir + "/events.jsonl").value_or("").empty();
  }

  /// Kills the program somewhere on its way.
  void RunAndKill() {
    StartServer(BackgroundScript());
    std::vector<std::string> arguments = {"do it"};
    if (HasSession()) arguments.insert(arguments.begin(), "-c");
    Result<Subprocess> program = Subprocess::Start(task_.Command(std::move(arguments)));
    ASSERT_TRUE(program) << program.error().Text();
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(takes_ * 11 / 10);
    const auto wait =
        static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(micros.count())));
    const timespec span{.tv_sec = wait / 1'000'000, .tv_nsec = wait % 1'000'000 * 1000};
    pollfd end{.fd = program->pidfd(), .events = POLLIN, .revents = 0};
    if (::ppoll(&end, 1, &span, nullptr) != 0) ++whole_;
    ::kill(program->pid(), SIGKILL);
    EXPECT_EQ(::poll(&end, 1, Deadline::After(kEndTime).PollTimeout()), 1);
    EXPECT_TRUE(program->Reap());
    CheckRequests();
  }

  void GoOn() {
    StartServer(R"({"replies":[{"times":0,"blocks":[{"text":"So be it."}]}]})");
    const Finished ran = task_.Run(HasSession() ? std::vector<std::string>{"-c", "go on"}
                                                : std::vector<std::string>{"go on"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    CheckRequests();
  }

  /// What was said in one stays said in those that follow, each time once.
  void CheckRequests() {
    for (const emulator::RequestRecord& request : emulator_->Requests()) {
      const std::string& body = request.body.text;
      EXPECT_EQ(test::BrokenRule(wire_.api, body), "") << body;
      std::set<std::string> here;
      for (int task = 1; task < 30; ++task) {
        const std::string notice = fmt::format("The background command shell-{} ", task);
        const std::size_t count = TimesIn(body, notice);
        EXPECT_LE(count, 1U) << notice << body;
        if (count > 0) here.insert(notice);
      }
      for (std::size_t at = body.find("xyzzy-"); at != std::string::npos;
           at = body.find("xyzzy-", at + 1)) {
        const std::string word = body.substr(at, body.find("-end", at) - at);
        EXPECT_TRUE(here.insert(word).second) << word << " is said twice: " << body;
      }
      for (const std::string& said : said_) EXPECT_TRUE(here.contains(said)) << said << body;
      said_ = std::move(here);
      ++requests_;
    }
  }

  static void Take(const protocol::OptionalCarries& carries, std::map<std::string, int>& paid) {
    if (!carries) return;
    for (const protocol::Carried& one : *carries) ++paid[one.Key()];
  }

  static void Take(const protocol::Event& event, std::map<std::string, int>& paid) {
    if (const auto* item = std::get_if<protocol::HarnessItem>(&event.payload))
      Take(item->carries, paid);
    if (const auto* message = std::get_if<protocol::CustomMessage>(&event.payload))
      Take(message->carries, paid);
  }

  static OwedLedger Read(const log::Log& log) {
    OwedLedger ledger;
    const Status read = log.Read(0, [&](const log::Entry&, std::string_view line) {
      const Result<protocol::Event> event = protocol::DecodeEvent(line);
      if (!event) return false;
      if (const auto* task = std::get_if<protocol::Task>(&event->payload)) {
        if (task->phase == "start") ledger.call_of[task->task_id] = *task->tool_call_id;
        if (task->ends()) ++ledger.ends[task->task_id];
      }
      if (const auto* owed = std::get_if<protocol::Owed>(&event->payload))
        ledger.owed[owed->owed_id] = owed->text;
      Take(*event, ledger.paid);
      return true;
    });
    EXPECT_TRUE(read) << read.error().Text();
    return ledger;
  }

  /// After a turn came to its end: nothing is owed where the leaf is, nothing was paid twice on any
  /// path.
  void CheckLog() {
    const std::unique_ptr<log::Log> log = OpenToRead(task_.SessionDir());
    ASSERT_TRUE(log);
    const OwedLedger ledger = Read(*log);
    for (const auto& [task, call] : ledger.call_of) {
      const auto end = ledger.ends.find(task);
      EXPECT_EQ(end == ledger.ends.end() ? 0 : end->second, 1) << task;
      ++tasks_;
    }
    for (const auto& [id, text] : ledger.owed) {
      const auto paid = ledger.paid.find(id);
      EXPECT_EQ(paid == ledger.paid.end() ? 0 : paid->second, 1) << text;
    }
    std::vector<log::Ordinal> leaves = log::Tree(log->index()).Leaves();
    const log::Ordinal last = log->index().leaf();
    for (const log::Ordinal leaf : leaves) {
      std::set<std::string> calls;
      std::map<std::string, int> paid;
      for (const log::Ordinal at : log::PathTo(log->index(), leaf)) {
        const Result<protocol::Event> event = log->EventAt(at);
        ASSERT_TRUE(event) << event.error().Text();
        if (const auto* said = std::get_if<protocol::AssistantMessage>(&event->payload)) {
          for (const protocol::Block& block : said->message.blocks) {
            if (const auto* call = std::get_if<protocol::ToolCallBlock>(&block))
              calls.insert(call->tool_call_id);
          }
        }
        Take(*event, paid);
      }
      for (const auto& [key, count] : paid) EXPECT_EQ(count, 1) << key;
      if (leaf != last) continue;
      for (const auto& [task, call] : ledger.call_of) {
        EXPECT_EQ(paid[task], calls.contains(call) ? 1 : 0) << task;
        told_ += paid[task];
      }
    }
    const Result<log::Verdict> verdict = log::Verify(task_.SessionDir());
    ASSERT_TRUE(verdict) << verdict.error().Text();
    EXPECT_TRUE(verdict->sound()) << verdict->faults.front().detail;
  }

  /// To any rest point there is.
  void Rewind() {
    if (!HasSession()) return;
    const auto log = log::Log::Open(task_.SessionDir(), WriteOptions());
    ASSERT_TRUE(log) << log.error().Text();
    std::vector<log::Ordinal> rests;
    const log::Index& index = (*log)->index();
    for (log::Ordinal at = 0; at < index.entries().size(); ++at) {
      if (index.entries()[at].in_tree() && log::IsRestPoint(index, at)) rests.push_back(at);
    }
    if (rests.empty()) return;
    const std::string target = *(*log)->IdOf(rests[random_.Below(rests.size())]);
    ASSERT_TRUE((*log)->Rewind(target, (*log)->leaf_id()));
    ASSERT_TRUE((*log)->Close());
    said_.clear();
  }

  /// One session: killed up to three times, and then it goes on.
  void Live() {
    task_.Reset();
    said_.clear();
    wire_ = test::kWires[random_.Below(test::kWires.size())];
    for (std::uint64_t lives = 1 + random_.Below(3); lives > 0; --lives) {
      RunAndKill();
      ++kills_;
      if (HasFailure()) return;
      if (random_.Below(4) == 0) Rewind();
    }
    GoOn();
    CheckLog();
    if (HasFailure() || random_.Below(2) == 0) return;
    Rewind();
    GoOn();
    CheckLog();
  }

  TempDir temp_;
  test::TaskProject task_{temp_.Sub("task")};
  std::unique_ptr<emulator::Emulator> emulator_;
  Wire wire_ = test::kWires[0];
  Random random_{23};
  std::chrono::milliseconds takes_{0};
  std::set<std::string> said_;  // In the last request on this path.
  int kills_ = 0;
  int whole_ = 0;
  int requests_ = 0;
  int tasks_ = 0;
  int told_ = 0;
};

TEST_F(TaskKillTest, WhateverEndsInTheBackgroundIsToldOnceOnEveryPath) {
  while (kills_ < TestScale().task_kills && !HasFailure()) {
    SCOPED_TRACE(testing::Message() << "kill " << kills_);
    Live();
  }
  std::printf(
      "[ kills    ] %d of a turn of %d ms, %d too late; %d requests, %d tasks, %d told at the "
      "end\n",
      kills_, static_cast<int>(takes_.count()), whole_, requests_, tasks_, told_);
  EXPECT_GT(told_, kills_ / 4);
}

}  // namespace
}  // namespace stet::fault
