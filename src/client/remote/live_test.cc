#include "client/remote/live.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "client/await.h"
#include "client/fake_host_fixture.h"

namespace stet::client {
namespace {

using std::chrono::milliseconds;

/// What a watcher heard, for another thread to wait for.
class Heard {
 public:
  Watcher MakeWatcher() {
    return [this](const protocol::Event* event, const protocol::Transient* transient) {
      const std::lock_guard lock(mutex_);
      if (event != nullptr) events_.push_back(event->id);
      const auto* end =
          transient == nullptr ? nullptr : std::get_if<protocol::RuntimeEnd>(&transient->transient);
      if (end != nullptr) events_.push_back("end of " + end->turn_id);
      changed_.notify_all();
    };
  }
  std::vector<std::string> Wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return events_.size() >= count; });
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

using Ids = std::vector<std::string>;

class RemoteLiveTest : public testing::Test {
 protected:
  std::unique_ptr<RemoteLive> Connect(milliseconds patience = milliseconds(20'000)) {
    RemoteOptions options;
    options.dial = host_.MakeDialer();
    options.endpoint.unix_path = unix_path_;
    options.environment = std::vector<std::string>{"HOME=/home/u"};
    options.patience = patience;
    options.backoff = {.first = milliseconds(0), .most = milliseconds(1)};
    options.seed = 5;
    return MakeRemoteLive(options);
  }

  protocol::Payload Said(const std::string& text) {
    protocol::UserMessage message;
    protocol::TextBlock block;
    block.text = text;
    message.message.blocks.emplace_back(block);
    return message;
  }

  /// The params of the last request of that method.
  std::string ParamsOf(std::string_view method) {
    std::string params;
    host_.Do([&] {
      for (const protocol::WireRequest& request : host_.requests) {
        if (request.method == method && request.params) params = request.params->text;
      }
    });
    return params;
  }

  std::string unix_path_ = "host.sock";
  FakeHost host_;
  Heard heard_;
};

TEST_F(RemoteLiveTest, HearsWhatHappensFromTheMomentItIsAttached) {
  host_.Append(Said("before"), "e1");
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session) << session.error().Text();
  host_.Do([&] { host_.Append(Said("after"), "e2"); });
  EXPECT_EQ(heard_.Wait(1), Ids{"e2"});
}

TEST_F(RemoteLiveTest, SendsAreKnownAgainWhenTheLineBreaksBeforeTheAnswer) {
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  host_.Do([&] { host_.hold_replies = true; });
  protocol::Send send;
  send.text = "hello";
  // Cuts the line once the message is in the log and its answer is under way.
  Result<protocol::Accepted> accepted = Fail(Code::kIo, "");
  std::thread sender([&] { accepted = Await(**session, &LiveSession::Send, send); });
  EXPECT_EQ(heard_.Wait(1).size(), 1u);
  host_.Do([&] {
    host_.hold_replies = false;
    host_.Cut();
  });
  sender.join();
  ASSERT_TRUE(accepted) << accepted.error().Text();
  EXPECT_EQ(accepted->what, "known");
  EXPECT_EQ(host_.sends.size(), 1u);
  EXPECT_EQ(host_.sends.begin()->second, 1);
}

TEST_F(RemoteLiveTest, TheEnvironmentGoesOverTheUnixSocketOnly) {
  {
    const auto live = Connect();
    const auto session =
        Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
    ASSERT_TRUE(session);
    ASSERT_TRUE(Await(**session, &LiveSession::Send, protocol::Send()));
    EXPECT_TRUE(ParamsOf("sessions.open").contains(R"("environment":["HOME=/home/u"])"));
    EXPECT_TRUE(ParamsOf("session.send").contains(R"("environment":["HOME=/home/u"])"));
  }
  unix_path_ = "";
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  ASSERT_TRUE(Await(**session, &LiveSession::Send, protocol::Send()));
  EXPECT_FALSE(ParamsOf("sessions.open").contains("environment"));
  EXPECT_FALSE(ParamsOf("session.send").contains("environment"));
}

TEST_F(RemoteLiveTest, ClosingLetsGoAndNothingMore) {
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  EXPECT_TRUE(Await(**session, &LiveSession::Close));
  host_.Do([&] {
    EXPECT_EQ(host_.requests.back().method, "session.unsubscribe");
    host_.Append(Said("not heard"));
  });
  EXPECT_TRUE(Await(**session, &LiveSession::Close));
  host_.Do([&] { EXPECT_EQ(host_.requests.back().method, "session.unsubscribe"); });
  EXPECT_EQ(heard_.Wait(0), Ids{});
}

TEST_F(RemoteLiveTest, AsksAsTheWireHasIt) {
  host_.other = [](const std::string& method, const std::string&) -> FakeHost::Reply {
    if (method == "session.rewind") return R"({"oldLeaf":"e2","newLeaf":"e1"})";
    if (method == "session.files") return R"({"files":[{"path":"a.txt"}]})";
    if (method == "session.turns") return R"({"turns":[{"id":"e1"}]})";
    if (method == "session.mark" || method == "session.command") return R"({"text":"done"})";
    if (method == "session.report") return R"({"turnId":"t"})";
    if (method == "session.recent")
      return R"({"events":[{"seq":1,"id":"e1","parentId":null,"type":"message","role":"user"}]})";
    if (method == "sessions.latest") return R"({"sessionId":"s_9"})";
    return "{}";
  };
  const auto live = Connect();
  EXPECT_EQ(Await(*live, &Live::Latest, "/src"), "s_9");
  const auto attached =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(attached);
  LiveSession& session = **attached;
  EXPECT_EQ(Await(session, &LiveSession::Rewind, "e1")->old_leaf, "e2");
  EXPECT_EQ(ParamsOf("session.rewind"), R"({"sessionId":"s_1","target":"e1"})");
  EXPECT_EQ(
      Await(session, &LiveSession::FilesSince, protocol::FilesParams{.restore = true})->at(0).path,
      "a.txt");
  EXPECT_EQ(ParamsOf("session.files"), R"({"sessionId":"s_1","restore":true})");
  EXPECT_EQ(Await(session, &LiveSession::Turns)->at(0).id, "e1");
  EXPECT_EQ(Await(session, &LiveSession::Mark, protocol::Mark()), "done");
  EXPECT_EQ(Await(session, &LiveSession::Command, "x", "y"), "done");
  EXPECT_EQ(Await(session, &LiveSession::Report, "t")->turn_id, "t");
  EXPECT_EQ(Await(session, &LiveSession::Recent, 5)->at(0).id, "e1");
  EXPECT_EQ(ParamsOf("session.recent"), R"({"sessionId":"s_1","count":5})");
  EXPECT_TRUE(Await(session, &LiveSession::Run));
  EXPECT_TRUE(Await(session, &LiveSession::Permissions));
  EXPECT_TRUE(Await(session, &LiveSession::RewriteQueue, "steer", protocol::QueueItems()));
  EXPECT_EQ(ParamsOf("session.rewriteQueue"), R"({"sessionId":"s_1","queue":"steer","items":[]})");
  protocol::PermissionAnswer answer;
  EXPECT_TRUE(Await(session, &LiveSession::Answer, answer));
  EXPECT_EQ(Await(session, &LiveSession::State)->session_id, "s_1");
}

TEST_F(RemoteLiveTest, TheHostsErrorsAreTheCallers) {
  host_.other = [](const std::string&, const std::string&) -> FakeHost::Reply {
    return Fail(Code::kConflict, "answered already");
  };
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  const Status answered = Await(**session, &LiveSession::Answer, protocol::QuestionAnswer());
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error(), Error(Code::kConflict, "answered already"));
}

TEST_F(RemoteLiveTest, AHostThatIsGoneForGoodIsSaidSoInTime) {
  host_.unreachable = true;
  const auto live = Connect(milliseconds(20));
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::kUnavailable);
}

TEST_F(RemoteLiveTest, AWrongTokenIsSaidAtOnce) {
  host_.token = "another";
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::kAuth);
}

TEST_F(RemoteLiveTest, ATurnThatNobodyCanTellTheEndOfEndsWhenTheHostIsGone) {
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  protocol::Send send;
  send.client_message_id = "m";
  ASSERT_TRUE(Await(**session, &LiveSession::Send, send));
  host_.Do([&] {
    host_.refusal = protocol::ToWire(Error(Code::kDenied, "the token was taken back"));
    host_.Cut();
  });
  const Ids heard = heard_.Wait(2);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1], "end of t_m");
  const Result<protocol::LiveState> state = Await(**session, &LiveSession::State);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error(), Error(Code::kDenied, "the token was taken back"));
}

TEST_F(RemoteLiveTest, ATurnThatEndedWhileTheLineWasDownIsToldToHaveEnded) {
  const auto live = Connect();
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  protocol::Send send;
  send.client_message_id = "m";
  ASSERT_TRUE(Await(**session, &LiveSession::Send, send));
  host_.Do([&] {
    host_.keep = 0;  // A compaction: nothing in the log says that it ended.
    host_.Cut();
    protocol::RuntimeEnd over;
    over.turn_id = "t_m";
    host_.Publish(over);
  });
  const Ids heard = heard_.Wait(2);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[1], "end of t_m");
}

TEST_F(RemoteLiveTest, AfterEveryReconnectTheSessionIsOpenedAgainWithoutWhatTheLogKeeps) {
  const auto live = Connect();
  protocol::Attach attach;
  attach.fork = true;
  attach.answers = true;
  attach.mode = "bypass";
  attach.disallowed = "Bash";
  const auto session = Await(*live, &Live::Attach, attach, FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  host_.Do([&] { host_.Cut(); });
  ASSERT_TRUE(Await(**session, &LiveSession::Send, protocol::Send()));
  const auto opened = [&] {
    std::vector<protocol::Attach> all;
    host_.Do([&] {
      for (const protocol::WireRequest& request : host_.requests) {
        if (request.method == "sessions.open")
          all.push_back(*Decode<protocol::Attach>(request.params->text));
      }
    });
    return all;
  };
  EXPECT_EQ(opened().size(), 2u) << "the same host has let go of its options";
  host_.Do([&] { host_.Restart(); });
  ASSERT_TRUE(Await(**session, &LiveSession::Send, protocol::Send()));
  const std::vector<protocol::Attach> all = opened();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].mode, "bypass");
  for (const protocol::Attach& again : {all[1], all[2]}) {
    EXPECT_EQ(again.session_id, "s_1");
    EXPECT_TRUE(again.answers);
    EXPECT_FALSE(again.fork);
    EXPECT_EQ(again.disallowed, "Bash");
    EXPECT_EQ(again.mode, "") << "a person may have changed it since";
  }
}

TEST_F(RemoteLiveTest, WatchingBeginsWithTheEndOfThePath) {
  for (int i = 1; i <= 5; ++i) host_.Append(Said("x"), "e" + std::to_string(i));
  const auto live = Connect();
  const auto session =
      Await(*live, &RemoteLive::Watch,
            Watched{.session_id = "s_1", .recent = 2, .watcher = heard_.MakeWatcher()});
  ASSERT_TRUE(session);
  EXPECT_EQ(heard_.Wait(2), (Ids{"e4", "e5"}));
  host_.Do([&] {
    EXPECT_TRUE(std::ranges::none_of(
        host_.requests, [](const auto& request) { return request.method == "sessions.open"; }));
  });
}

TEST_F(RemoteLiveTest, ASessionIsHeardOnceByOneClient) {
  const auto live = Connect();
  const auto first =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  ASSERT_TRUE(first);
  const auto second = Await(*live, &RemoteLive::Watch,
                            Watched{.session_id = "s_1", .watcher = heard_.MakeWatcher()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
}

TEST_F(RemoteLiveTest, WhoeverWaitsIsToldWhenTheHostIsAbandoned) {
  host_.hold_replies = true;
  const auto live = Connect();
  std::thread leaving([&] { live->Abandon(); });
  const auto session =
      Await(*live, &Live::Attach, protocol::Attach(), FaceSide{heard_.MakeWatcher()});
  leaving.join();
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, Code::kCancelled);
  EXPECT_EQ(Await(*live, &RemoteLive::Welcome).error().code, Code::kCancelled) << "and afterwards";
}

}  // namespace
}  // namespace stet::client
