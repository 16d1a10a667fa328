// Calls to a host that takes its time, or never answers.
#include "client/remote/session.h"

#include <gtest/gtest.h>

#include "client/await.h"
#include "client/fake_host_fixture.h"
#include "client/inbox.h"
#include "protocol/params.h"

namespace stet::client {
namespace {

using std::chrono::milliseconds;

class RemoteSessionTest : public testing::Test {
 protected:
  /// Attached; from then on the host hears what it is asked and says nothing.
  void Attach(milliseconds patience) {
    RemoteOptions options;
    options.dial = host_.MakeDialer();
    options.endpoint.unix_path = "host.sock";
    options.patience = patience;
    options.backoff = {.first = milliseconds(0), .most = milliseconds(1)};
    options.seed = 5;
    live_ = MakeRemoteLive(options);
    auto attached =
        Await(*live_, &Live::Attach, protocol::Attach(), FaceSide{.watcher = inbox_.Watcher()});
    ASSERT_TRUE(attached) << attached.error().Text();
    session_ = *std::move(attached);
    host_.Do([&] { host_.hold_replies = true; });
  }

  /// A reply that notes what came of `what`.
  auto Note(const std::string& what) {
    return inbox_.Then([this, what](const auto& answer) {
      heard_.push_back(what + ": " + std::string(answer ? "done" : CodeName(answer.error().code)));
    });
  }

  /// Every call that a face can make. Gives how many there were.
  std::size_t CallEverything() {
    session_->State(Note("state"));
    session_->Send(protocol::Send(), Note("send"));
    session_->Cancel();
    session_->Answer(protocol::PermissionAnswer(), Note("answer"));
    session_->Answer(protocol::QuestionAnswer(), Note("answer"));
    session_->RewriteQueue("steer", {}, Note("queue"));
    session_->Change(protocol::Change(), Note("change"));
    session_->Rewind(std::nullopt, Note("rewind"));
    session_->Branch("e1", Note("branch"));
    session_->FilesSince(protocol::FilesParams(), Note("files"));
    session_->Mark(protocol::Mark(), Note("mark"));
    session_->Run(Note("run"));
    session_->Turns(Note("turns"));
    session_->Permissions(Note("permissions"));
    session_->Tasks(Note("tasks"));
    session_->StopTask("shell-1", Note("stop"));
    session_->TaskOutput("shell-1", Note("output"));
    session_->Recent(5, Note("recent"));
    session_->Report("t", Note("report"));
    return 18;
  }

  /// Takes news until so many answers and events were heard.
  const std::vector<std::string>& Hear(std::size_t count) {
    while (heard_.size() < count) {
      std::optional<News> news = inbox_.Wait();
      if (!news) break;
      Take(*news);
    }
    return heard_;
  }
  void Take(News& news) {
    if (auto* answered = std::get_if<Answered>(&news)) (*answered)();
    if (const auto* event = std::get_if<protocol::Event>(&news)) heard_.push_back(event->id);
  }

  /// How many answers were heard so far that ended like this.
  [[nodiscard]] std::size_t Count(const std::string& how) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        heard_, [&](const std::string& one) { return one.contains(": ") && one.ends_with(how); }));
  }

  FakeHost host_;
  Inbox inbox_;
  std::vector<std::string> heard_;
  std::unique_ptr<RemoteLive> live_;
  std::unique_ptr<LiveSession> session_;
};

TEST_F(RemoteSessionTest, CallsReturnBeforeTheHostAnswersAndEndWhenTheSessionIsClosed) {
  Attach(std::chrono::hours(1));
  const std::size_t calls = CallEverything();
  while (std::optional<News> news = inbox_.Take()) Take(*news);
  EXPECT_EQ(Count(""), 0U) << "the host has answered nothing";
  // The goodbye is not answered either: it is not waited for here.
  session_->Close([](const Status&) {});
  while (Count("") < calls) Hear(heard_.size() + 1);
  EXPECT_EQ(Count("cancelled"), calls);
}

TEST_F(RemoteSessionTest, EveryCallEndsByItsDeadline) {
  Attach(milliseconds(500));
  const std::size_t calls = CallEverything();
  while (Count("") < calls) Hear(heard_.size() + 1);
  EXPECT_EQ(Count("timeout"), calls);
  session_->Close([](const Status&) {});
}

TEST_F(RemoteSessionTest, AbandoningTheHostEndsWhatWaits) {
  Attach(std::chrono::hours(1));
  session_->Run(Note("run"));
  live_->Abandon();
  EXPECT_EQ(Hear(1), std::vector<std::string>{"run: cancelled"});
  session_->Run(Note("later"));
  EXPECT_EQ(Hear(2).back(), "later: cancelled");
}

TEST_F(RemoteSessionTest, WhatASendBringsAboutIsHeardBeforeItsAnswer) {
  Attach(std::chrono::hours(1));
  host_.Do([&] { host_.hold_replies = false; });
  session_->Send(protocol::Send(), Note("send"));
  const std::vector<std::string> heard = Hear(2);
  EXPECT_TRUE(heard[0].starts_with("e_")) << heard[0];
  EXPECT_EQ(heard[1], "send: done");
}

TEST_F(RemoteSessionTest, ACancelNamesTheTurnThatRanWhenItWasMeant) {
  Attach(std::chrono::hours(1));
  host_.Do([&] {
    host_.hold_replies = false;
    protocol::RuntimeStart begun;
    begun.turn_id = "t_first";
    host_.Publish(begun);
  });
  // Answered behind what was published.
  ASSERT_TRUE(Await(*session_, &LiveSession::State));
  host_.Do([&] {
    host_.Cut("it broke");
    // Before the host, on this thread, can take the line again and say that nothing runs.
    session_->Cancel();
  });
  ASSERT_TRUE(Await(*session_, &LiveSession::State));
  std::string params;
  host_.Do([&] {
    for (const protocol::WireRequest& request : host_.requests)
      if (request.method == "session.cancel") params = request.params.value_or(Raw{""}).text;
  });
  EXPECT_EQ(Decode<protocol::CancelParams>(params).value().turn_id, "t_first") << params;
}

TEST_F(RemoteSessionTest, ALostLineIsToldAndItsReturnToo) {
  Attach(std::chrono::hours(1));
  host_.Do([&] { host_.hold_replies = false; });
  live_->WatchLink(inbox_.Each<Link>(
      [this](const Link& link) { heard_.push_back(link.connected ? "there" : link.why); }));
  EXPECT_EQ(Hear(1), std::vector<std::string>{"there"});
  host_.Do([&] { host_.Cut("it broke"); });
  EXPECT_EQ(Hear(3), (std::vector<std::string>{"there", "it broke", "there"}));
}

TEST_F(RemoteSessionTest, AHoldThatNoFaceTakesIsLetGoOf) {
  Attach(std::chrono::hours(1));
  host_.Do([&] { host_.hold_replies = false; });
  ASSERT_TRUE(Await(*session_, &LiveSession::Close));
  {
    Inbox gone;
    live_->Attach(protocol::Attach(), {.watcher = gone.Watcher()},
                  gone.Then([](const Result<std::unique_ptr<LiveSession>>&) {}));
  }
  // Answered behind the attach, on the same line.
  EXPECT_TRUE(Await(*live_, &RemoteLive::Welcome));
  EXPECT_TRUE(Await(*live_, &RemoteLive::Welcome));
  auto again =
      Await(*live_, &Live::Attach, protocol::Attach(), FaceSide{.watcher = inbox_.Watcher()});
  EXPECT_TRUE(again) << again.error().Text() << ": it is followed no longer";
}

}  // namespace
}  // namespace stet::client
