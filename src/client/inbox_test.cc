#include "client/inbox.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>

namespace stet::client {
namespace {

bool IsReadable(const Inbox& inbox) {
  pollfd wait{.fd = inbox.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST(InboxTest, NewsComesInOrderAndTheDescriptorSaysWhetherThereIsAny) {
  Inbox inbox;
  const client::Watcher watcher = inbox.Watcher();
  EXPECT_FALSE(IsReadable(inbox));
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    protocol::Event event;
    event.seq = seq;
    watcher(&event, nullptr);
  }
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    EXPECT_TRUE(IsReadable(inbox));
    EXPECT_EQ(std::get<protocol::Event>(*inbox.Take()).seq, seq);
  }
  EXPECT_FALSE(inbox.Take());
  EXPECT_FALSE(IsReadable(inbox));
}

TEST(InboxTest, APokeWakesWhoeverWaitsAlsoBeforeTheyDo) {
  Inbox inbox;
  inbox.Poke();
  EXPECT_FALSE(inbox.Wait());
}

TEST(InboxTest, NothingIsLostBetweenTwoThreads) {
  constexpr std::uint64_t kMany = 20'000;
  Inbox inbox;
  std::thread host([watcher = inbox.Watcher()] {
    for (std::uint64_t seq = 1; seq <= kMany; ++seq) {
      protocol::Transient transient;
      transient.seq = seq;
      watcher(nullptr, &transient);
    }
  });
  std::uint64_t heard = 0;
  while (heard < kMany) {
    const std::optional<News> news = inbox.Wait();
    ASSERT_TRUE(news);
    ASSERT_EQ(std::get<protocol::Transient>(*news).seq, ++heard);
  }
  host.join();
}

/// Takes everything, as a face does, and runs the answers.
std::vector<std::string> TakeAll(Inbox& inbox, std::vector<std::string>& heard) {
  while (std::optional<News> news = inbox.Take()) {
    if (auto* answered = std::get_if<Answered>(&*news)) (*answered)();
    if (const auto* event = std::get_if<protocol::Event>(&*news)) heard.push_back(event->id);
  }
  return heard;
}

protocol::Event Named(const std::string& id) {
  protocol::Event event;
  event.id = id;
  return event;
}

TEST(InboxTest, AnAnswerIsTakenBehindWhatWasToldBeforeIt) {
  Inbox inbox;
  std::vector<std::string> heard;
  const Reply<std::string> reply =
      inbox.Then([&](const Result<std::string>& answer) { heard.push_back(*answer); });
  const protocol::Event before = Named("before");
  const protocol::Event after = Named("after");
  inbox.Watcher()(&before, nullptr);
  reply("answer");
  inbox.Watcher()(&after, nullptr);
  EXPECT_TRUE(heard.empty()) << "only the face's thread runs it";
  EXPECT_EQ(TakeAll(inbox, heard), (std::vector<std::string>{"before", "answer", "after"}));
}

TEST(InboxTest, AnAnswerThatNeverComesIsTakenAsCancelled) {
  Inbox inbox;
  std::optional<Code> heard;
  {
    const Reply<int> reply = inbox.Then([&](const Result<int>& one) { heard = one.error().code; });
  }
  std::vector<std::string> events;
  TakeAll(inbox, events);
  EXPECT_EQ(heard, Code::kCancelled);
}

TEST(InboxTest, DroppedAnswersNeitherRunNorComeLater) {
  Inbox inbox;
  std::vector<std::string> heard;
  const auto note = [&](const Result<std::string>& answer) {
    heard.push_back(answer.value_or("error"));
  };
  const Reply<std::string> here = inbox.Then(note);
  const Reply<std::string> comes = inbox.Then(note);
  const protocol::Event event = Named("event");
  here("here");
  inbox.Watcher()(&event, nullptr);
  inbox.DropAnswers();
  comes("comes");
  const Reply<std::string> later = inbox.Then(note);
  later("later");
  EXPECT_EQ(TakeAll(inbox, heard), (std::vector<std::string>{"event", "later"}));
}

TEST(InboxTest, WhatComesWhenTheInboxIsGoneIsDropped) {
  bool heard = false;
  auto inbox = std::make_unique<Inbox>();
  const Reply<int> reply = inbox->Then([&](const Result<int>&) { heard = true; });
  const client::Watcher watcher = inbox->Watcher();
  inbox.reset();
  const protocol::Event event = Named("event");
  watcher(&event, nullptr);
  reply(1);
  EXPECT_FALSE(heard);
}

TEST(InboxTest, WhatIsToldAgainAndAgainIsTakenEachTime) {
  Inbox inbox;
  std::vector<std::string> heard;
  const std::function<void(std::string)> tell =
      inbox.Each<std::string>([&](const std::string& one) { heard.push_back(one); });
  tell("one");
  tell("two");
  EXPECT_EQ(TakeAll(inbox, heard), (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace stet::client
