// The agent beside a host that does not answer: nothing waits for it but what asked it.
#include "acp/agent.h"

#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "acp/agent_fixture.h"

namespace stet::acp {
namespace {

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    Say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}})");
    EXPECT_TRUE(Answer(0).contains("result"));
  }

  void Say(const std::string& line) { agent_->Feed(line + "\n"); }
  int Ask(const std::string& method, const std::string& params) {
    Say(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", ++last_, method,
                    params));
    return last_;
  }
  int Load(const std::string& id) {
    return Ask("session/load", fmt::format(R"({{"sessionId":"{}","cwd":"{}","mcpServers":[]}})", id,
                                           std::filesystem::temp_directory_path().string()));
  }
  int Prompt(const std::string& id, const std::string& text) {
    return Ask(
        "session/prompt",
        fmt::format(R"({{"sessionId":"{}","prompt":[{{"type":"text","text":"{}"}}]}})", id, text));
  }
  void Cancel(const std::string& id) {
    Say(fmt::format(
        R"({{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{}"}}}})", id));
  }

  /// Hears until nothing is left to hear.
  void Settle() {
    while (agent_) {
      std::vector<int> fds;
      agent_->AddDescriptors(fds);
      std::vector<pollfd> polled;
      for (const int fd : fds) polled.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      if (::poll(polled.data(), polled.size(), kQuietMs) <= 0) return;
      agent_->Hear();
    }
  }
  /// What the client has read so far.
  const std::string& Read() {
    Settle();
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    while (!output_.empty()) {
      EXPECT_TRUE(output_.WriteSome(ends[1]));
      char bytes[65536];
      for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
        read_.append(bytes, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    ::close(ends[1]);
    return read_;
  }
  /// The line that answers a request; empty while it is not answered.
  std::string Answer(int id) {
    const std::string mark = fmt::format(R"("id":{},)", id);
    const std::string& all = Read();
    const std::size_t at = all.find(mark);
    if (at == std::string::npos) return "";
    EXPECT_EQ(all.find(mark, at + 1), std::string::npos) << "answered once";
    const std::size_t begin = all.rfind('\n', at) + 1;
    return all.substr(begin, all.find('\n', at) - begin);
  }
  FakeLane& Lane(const std::string& id) { return live_->lanes[id]; }

  static constexpr int kQuietMs = 50;  // The host is looked for on another thread.
  static constexpr const char* kOne = "ses_01000000000000000000000001";
  static constexpr const char* kTwo = "ses_02000000000000000000000002";

  FakeLive* live_ = new FakeLive;  // The agent's from the first session on.
  Output output_{[] {}};
  std::optional<Agent> agent_{
      std::in_place,
      Clients{.sessions = []() -> Result<std::unique_ptr<client::Sessions>> {
                return std::make_unique<FakeStored>();
              },
              .models = []() -> Result<std::unique_ptr<client::Models>> {
                return std::make_unique<FakeModelList>();
              },
              .live = [this]() -> Result<std::unique_ptr<client::Live>> {
                return std::unique_ptr<client::Live>(live_);
              }},
      output_};
  std::string read_;
  int last_ = 0;
};

TEST_F(AgentTest, ALoadThatIsHeldUpHoldsUpNoOtherSession) {
  EXPECT_TRUE(Answer(Load(kOne)).contains("result"));
  live_->held_up = true;
  const int slow = Load(kTwo);
  const int waits = Prompt(kTwo, "later");
  const int prompt = Prompt(kOne, "hello");
  Settle();
  ASSERT_EQ(Lane(kOne).sends.size(), 1U);
  EXPECT_TRUE(Answer(Ask("session/list", "{}")).contains("result"));
  EXPECT_EQ(Answer(slow), "");
  EXPECT_EQ(Answer(prompt), "");
  Cancel(kTwo);
  EXPECT_TRUE(Answer(waits).contains(R"("stopReason":"cancelled")")) << "it had not begun";
  live_->attaching[0](std::make_unique<FakeLiveSession>(Lane(kTwo)));
  EXPECT_TRUE(Answer(slow).contains("result"));
}

TEST_F(AgentTest, ACancelAndAPermissionGetThroughWhileTheSessionAnswersNothing) {
  Load(kOne);
  Settle();
  Lane(kOne).silent = true;
  const int prompt = Prompt(kOne, "hello");
  protocol::Permission asked;
  asked.request_id = "p1";
  asked.phase = "asked";
  Lane(kOne).Tell(asked);
  ASSERT_TRUE(Read().contains(R"("id":"stet-1","method":"session/request_permission")")) << Read();
  Say(R"({"jsonrpc":"2.0","id":"stet-1","result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}})");
  EXPECT_EQ(Lane(kOne).answers.size(), 1U);
  Cancel(kOne);
  EXPECT_EQ(Lane(kOne).cancels, 1);
  EXPECT_EQ(Answer(prompt), "");
}

TEST_F(AgentTest, WhatTheHostDidNotAnswerInTimeIsAnErrorThatSaysSo) {
  Load(kOne);
  Settle();
  const int prompt = Prompt(kOne, "hello");
  Settle();
  Lane(kOne).sends[0].second(
      Fail(Code::kTimeout, "the host did not answer: `stet host status` says how it is"));
  const std::string refused = Answer(prompt);
  EXPECT_TRUE(refused.contains(R"("data":{"code":"timeout"})")) << refused;
  EXPECT_TRUE(refused.contains("stet host status")) << refused;
}

TEST_F(AgentTest, ATurnThatEndsBeforeItIsAcceptedIsAnswered) {
  Load(kOne);
  Settle();
  const int prompt = Prompt(kOne, "/compact");
  Settle();
  protocol::RuntimeEnd end;
  end.turn_id = "t1";
  end.reason = "completed";
  Lane(kOne).Tell(end);
  Settle();
  protocol::Accepted accepted;
  accepted.turn_id = "t1";
  Lane(kOne).sends[0].second(accepted);
  EXPECT_TRUE(Answer(prompt).contains(R"("stopReason":"end_turn")")) << Answer(prompt);
}

TEST_F(AgentTest, TheEndAnswersAllThatWaits) {
  Load(kOne);
  Settle();
  Lane(kOne).silent = true;
  const int prompt = Prompt(kOne, "hello");
  const int option =
      Ask("session/set_config_option",
          fmt::format(R"({{"sessionId":"{}","configId":"mode","value":"plan"}})", kOne));
  live_->held_up = true;
  const int slow = Load(kTwo);
  Settle();
  agent_->End();
  Settle();
  EXPECT_TRUE(Lane(kOne).closed);
  EXPECT_TRUE(live_->abandoned) << "a host that does not answer is not waited for";
  EXPECT_TRUE(agent_->over());
  EXPECT_TRUE(Answer(prompt).contains(R"("stopReason":"cancelled")"));
  EXPECT_TRUE(Answer(option).contains("cancelled"));
  EXPECT_TRUE(Answer(slow).contains("cancelled"));
}

TEST_F(AgentTest, AnAgentThatIsDestroyedAnswersWhatIsLeft) {
  Load(kOne);
  Settle();
  Lane(kOne).silent = true;
  const int option =
      Ask("session/set_config_option",
          fmt::format(R"({{"sessionId":"{}","configId":"mode","value":"plan"}})", kOne));
  Settle();
  agent_.reset();
  EXPECT_TRUE(Answer(option).contains("it was given up")) << Read();
}

}  // namespace
}  // namespace stet::acp
