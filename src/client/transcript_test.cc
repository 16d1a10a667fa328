#include "client/transcript.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::client {
namespace {

using protocol::Event;
using How = Transcript::How;
using Ids = std::vector<std::string>;

constexpr std::size_t kScreen = 3;

Event EventWith(std::uint64_t seq, const std::string& id, std::optional<std::string> parent,
                protocol::Payload payload = protocol::UserMessage()) {
  Event event;
  event.seq = seq;
  event.id = id;
  event.parent_id = std::move(parent);
  event.payload = std::move(payload);
  return event;
}

Ids IdsOf(const std::vector<Event>& events) {
  Ids ids;
  for (const Event& event : events) ids.push_back(event.id);
  return ids;
}

class TranscriptTest : public testing::Test {
 protected:
  [[nodiscard]] Transcript Begin() const { return {Cache(folder_), "d", "s"}; }

  /// e1 to e<count> behind each other.
  void Say(int count) {
    for (int i = 1; i <= count; ++i) Add("e" + std::to_string(i));
  }
  void Add(const std::string& id) {
    path_.push_back(
        EventWith(++seq_, id, path_.empty() ? std::nullopt : std::optional(path_.back().id)));
  }
  /// So many events of the path are left behind.
  void Rewind(std::size_t count) {
    path_.resize(path_.size() - count);
    ++seq_;
  }

  /// The end of the path, as a host has it.
  std::vector<Event> Recent(std::size_t count) {
    asked_.push_back(count);
    const std::size_t skipped = path_.size() - std::min(path_.size(), count);
    return {path_.begin() + static_cast<std::ptrdiff_t>(skipped), path_.end()};
  }
  Transcript::Rest Reconcile(Transcript& transcript) {
    std::vector<Event> path = Recent(kScreen);
    if (transcript.NeedsMore(path)) path = Recent(Transcript::kMost);
    return transcript.Reconcile(std::move(path), kScreen);
  }
  /// Attaches and detaches.
  void Visit() {
    Transcript transcript = Begin();
    transcript.ShowKept(kScreen);
    Reconcile(transcript);
    transcript.Keep();
    asked_.clear();
  }

  TempDir dir_;
  std::string folder_ = dir_.Sub("transcripts");
  std::vector<Event> path_;
  std::uint64_t seq_ = 0;
  std::vector<std::size_t> asked_;
};

TEST_F(TranscriptTest, TheFirstTimeTheHostsEndIsShown) {
  Say(5);
  Transcript transcript = Begin();
  EXPECT_EQ(IdsOf(transcript.ShowKept(kScreen)), Ids{});
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kGoesOn);
  EXPECT_EQ(IdsOf(rest.events), (Ids{"e3", "e4", "e5"}));
}

TEST_F(TranscriptTest, WhatWasKeptIsShownAndThenOnlyWhatIsNew) {
  Say(5);
  Visit();
  Add("new");
  Transcript transcript = Begin();
  EXPECT_EQ(IdsOf(transcript.ShowKept(kScreen)), (Ids{"e3", "e4", "e5"}));
  EXPECT_EQ(IdsOf(transcript.ShowKept(kScreen)), Ids{}) << "once";
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kGoesOn);
  EXPECT_EQ(IdsOf(rest.events), Ids{"new"});
  EXPECT_EQ(asked_, std::vector<std::size_t>{kScreen}) << "a screen is enough";
}

TEST_F(TranscriptTest, MoreThanAScreenOfNewEventsIsAllShown) {
  Say(2);
  Visit();
  for (int i = 0; i < 10; ++i) Add("new" + std::to_string(i));
  Transcript transcript = Begin();
  transcript.ShowKept(kScreen);
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kGoesOn);
  EXPECT_EQ(rest.events.size(), 10u);
}

TEST_F(TranscriptTest, MoreThanIsKeptIsLeftOutAndSaid) {
  Say(2);
  Visit();
  for (std::size_t i = 0; i < 2 * Cache::kMaxEvents; ++i) Add("new" + std::to_string(i));
  Transcript transcript = Begin();
  transcript.ShowKept(kScreen);
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kMore);
  EXPECT_EQ(IdsOf(rest.events), (Ids{"new997", "new998", "new999"}));
}

TEST_F(TranscriptTest, ARewindMeanwhileIsSaidAndTheRightEndShown) {
  Say(5);
  Visit();
  Rewind(3);
  Transcript same = Begin();
  same.ShowKept(kScreen);
  const auto back = Reconcile(same);
  EXPECT_EQ(back.how, How::kElsewhere);
  EXPECT_EQ(IdsOf(back.events), (Ids{"e1", "e2"}));
  Add("other");
  Transcript transcript = Begin();
  transcript.ShowKept(kScreen);
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kElsewhere);
  EXPECT_EQ(IdsOf(rest.events), (Ids{"e1", "e2", "other"}));
  transcript.Keep();
  EXPECT_EQ(IdsOf(Begin().ShowKept(kScreen)), (Ids{"e1", "e2", "other"}));
}

TEST_F(TranscriptTest, ASessionThatWasRewoundToItsBeginningShowsNothing) {
  Say(5);
  Visit();
  Rewind(5);
  Transcript transcript = Begin();
  transcript.ShowKept(kScreen);
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kElsewhere);
  EXPECT_EQ(IdsOf(rest.events), Ids{});
}

TEST_F(TranscriptTest, WhatTheHostsWordHadIsNotShownAgain) {
  Say(5);
  Transcript transcript = Begin();
  Reconcile(transcript);
  EXPECT_FALSE(transcript.Take(path_.back())) << "it came by both ways";
  Add("new");
  EXPECT_TRUE(transcript.Take(path_.back()));
  transcript.Keep();
  EXPECT_EQ(IdsOf(Begin().ShowKept(2)), (Ids{"e5", "new"}));
}

TEST_F(TranscriptTest, WhatStandsBesideThePathIsNotInTheHostsWord) {
  Say(5);
  Transcript transcript = Begin();
  Reconcile(transcript);
  const std::uint64_t within = path_.back().seq;
  EXPECT_TRUE(transcript.Take(EventWith(within, "q", {}, protocol::QueueUpdate())));
  EXPECT_TRUE(transcript.Take(EventWith(within, "i", {}, protocol::SessionInfo())));
  EXPECT_FALSE(transcript.Take(EventWith(within, "r", {}, protocol::Rewind())))
      << "the path is what came of it";
  transcript.Keep();
  EXPECT_EQ(IdsOf(Begin().ShowKept(1)), Ids{"e5"});
}

TEST_F(TranscriptTest, IsKeptAtTheEndOfATurn) {
  Say(2);
  Transcript transcript = Begin();
  Reconcile(transcript);
  Add("new");
  transcript.Take(path_.back());
  protocol::Turn turn;
  turn.phase = "start";
  transcript.Take(EventWith(++seq_, "t1", {}, turn));
  EXPECT_EQ(IdsOf(Begin().ShowKept(1)), Ids{});
  turn.phase = "end";
  transcript.Take(EventWith(++seq_, "t2", {}, turn));
  EXPECT_EQ(IdsOf(Begin().ShowKept(1)), Ids{"new"});
}

TEST_F(TranscriptTest, ADamagedFileIsAsNone) {
  Say(5);
  Visit();
  const std::vector<DirEntry> files = ListDir(folder_).value_or(std::vector<DirEntry>());
  ASSERT_EQ(files.size(), 1u);
  for (const DirEntry& entry : files)
    ASSERT_TRUE(ReplaceFile(folder_ + "/" + entry.name, "{\"version\":1", Durable::kNo));
  Transcript transcript = Begin();
  EXPECT_EQ(IdsOf(transcript.ShowKept(kScreen)), Ids{});
  const auto rest = Reconcile(transcript);
  EXPECT_EQ(rest.how, How::kGoesOn);
  EXPECT_EQ(IdsOf(rest.events), (Ids{"e3", "e4", "e5"}));
}

TEST_F(TranscriptTest, WithoutACacheNothingIsKept) {
  Say(2);
  Transcript transcript;
  EXPECT_EQ(IdsOf(transcript.ShowKept(kScreen)), Ids{});
  EXPECT_EQ(IdsOf(Reconcile(transcript).events), (Ids{"e1", "e2"}));
  transcript.Keep();
  EXPECT_FALSE(Exists(folder_));
}

}  // namespace
}  // namespace stet::client
