#include "client/remote/sessions.h"

#include <gtest/gtest.h>

#include "client/await.h"
#include "client/fake_host_fixture.h"

namespace stet::client {
namespace {

using std::chrono::milliseconds;

class RemoteSessionsTest : public testing::Test {
 protected:
  RemoteSessionsTest() {
    RemoteOptions options;
    options.dial = host_.MakeDialer();
    options.backoff = {.first = milliseconds(0), .most = milliseconds(1)};
    options.seed = 5;
    live_ = MakeRemoteLive(options);
    sessions_ = MakeRemoteSessions(*live_);
  }

  /// Every request is answered with this; gives what was asked last afterwards.
  void Answers(std::string text) {
    EXPECT_TRUE(Await(*live_, &RemoteLive::Welcome));
    host_.Do([&] {
      host_.other = [this, text](const std::string& method, const std::string& params) {
        asked_ = method + " " + params;
        return text;
      };
    });
  }
  std::string Asked() {
    std::string asked;
    host_.Do([&] { asked = asked_; });
    return asked;
  }

  FakeHost host_;
  std::string asked_;
  std::unique_ptr<RemoteLive> live_;
  std::unique_ptr<Sessions> sessions_;
};

TEST_F(RemoteSessionsTest, WhatTheWireHasIsAskedOfTheHost) {
  Answers(R"({"tasks":[{"taskId":"shell-1","state":"running"}]})");
  const auto tasks = Await(*sessions_, &Sessions::Tasks, "s_1");
  ASSERT_TRUE(tasks) << tasks.error().Text();
  EXPECT_EQ(tasks->at(0).task_id, "shell-1");
  EXPECT_EQ(Asked(), R"(session.tasks {"sessionId":"s_1"})");
  Answers(R"({"oldLeaf":"e2","newLeaf":"e1"})");
  EXPECT_EQ(Await(*sessions_, &Sessions::Rewind, "s_1", "e1", "e2")->new_leaf, "e1");
  EXPECT_EQ(Asked(), R"(session.rewind {"sessionId":"s_1","target":"e1","expectedLeaf":"e2"})");
  Answers(R"({"name":"n","base64":"aGk="})");
  EXPECT_EQ(Await(*sessions_, &Sessions::Blob, "s_1", "n"), "hi");
  Answers(R"({"sessionId":"s_2"})");
  EXPECT_EQ(Await(*sessions_, &Sessions::Clone, "s_1", std::nullopt), "s_2");
  EXPECT_TRUE(Await(*sessions_, &Sessions::Remove, "s_1"));
  EXPECT_EQ(Asked(), R"(session.delete {"sessionId":"s_1"})");
}

TEST_F(RemoteSessionsTest, ABeginningOfAnIdIsResolved) {
  Answers(R"({"sessions":[{"sessionId":"ses_ab"},{"sessionId":"ses_abc"},{"sessionId":"ses_x"}]})");
  EXPECT_EQ(Await(*sessions_, &Sessions::Resolve, "ses_x"), "ses_x");
  EXPECT_EQ(Await(*sessions_, &Sessions::Resolve, "ses_ab"), "ses_ab") << "it stands there whole";
  EXPECT_EQ(Await(*sessions_, &Sessions::Resolve, "ses_a").error().code, Code::kConflict);
  EXPECT_EQ(Await(*sessions_, &Sessions::Resolve, "zzz").error().code, Code::kNotFound);
}

TEST_F(RemoteSessionsTest, WhatNeedsTheFilesIsRefusedAndErrorsAreHandedOn) {
  EXPECT_EQ(Await(*sessions_, &Sessions::Verify, "s_1").error().code, Code::kUnsupported);
  Answers("[]");
  EXPECT_EQ(Await(*sessions_, &Sessions::Cost, "s_1").error().code, Code::kInvalid);
  host_.Do([&] {
    host_.other = [](const std::string&, const std::string&) -> FakeHost::Reply {
      return Fail(Code::kBusy, "a turn runs");
    };
  });
  EXPECT_EQ(Await(*sessions_, &Sessions::Branch, "s_1", "e1", std::nullopt).error(),
            Error(Code::kBusy, "a turn runs"));
}

}  // namespace
}  // namespace stet::client
