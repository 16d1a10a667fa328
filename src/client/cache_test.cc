#include "client/cache.h"

#include <gtest/gtest.h>
#include <utime.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::client {
namespace {

CachedSession Session(std::size_t events, std::size_t bytes_each = 10) {
  CachedSession session;
  for (std::size_t i = 1; i <= events; ++i) {
    protocol::Event& event = session.events.emplace_back();
    event.seq = i;
    event.id = "e" + std::to_string(i);
    protocol::UserMessage message;
    protocol::TextBlock text;
    text.text = std::string(bytes_each, 'x');
    message.message.blocks.emplace_back(text);
    event.payload = message;
  }
  session.anchor.epoch = -1;
  session.anchor.persistent_seq = events;
  session.anchor.persistent_id = "e" + std::to_string(events);
  return session;
}

class CacheTest : public testing::Test {
 protected:
  /// The only file that is kept.
  std::string OnlyFile() {
    const Result<std::vector<DirEntry>> entries = ListDir(folder_);
    EXPECT_TRUE(entries && entries->size() == 1);
    return folder_ + "/" + entries->at(0).name;
  }

  TempDir dir_;
  std::string folder_ = dir_.Sub("cache/attach");
  Cache cache_{folder_};
};

TEST_F(CacheTest, GivesBackWhatWasKept) {
  const CachedSession session = Session(3);
  EXPECT_EQ(cache_.Load("d", "s"), std::nullopt);
  ASSERT_TRUE(cache_.Store("d", "s", session));
  EXPECT_EQ(cache_.Load("d", "s"), session);
}

TEST_F(CacheTest, KeepsNoPlaceInAnEpoch) {
  CachedSession session = Session(1);
  session.anchor.epoch = 3;
  session.anchor.seq = 88;
  ASSERT_TRUE(cache_.Store("d", "s", session));
  EXPECT_EQ(cache_.Load("d", "s")->anchor.epoch, -1);
}

TEST_F(CacheTest, SessionsOfOtherDevicesAreOthers) {
  ASSERT_TRUE(cache_.Store("d", "s", Session(3)));
  EXPECT_EQ(cache_.Load("d2", "s"), std::nullopt);
  EXPECT_EQ(cache_.Load("d", "s2"), std::nullopt);
  ASSERT_TRUE(cache_.Store("d2", "s", Session(1)));
  EXPECT_EQ(cache_.Load("d", "s")->events.size(), 3u);
}

TEST_F(CacheTest, AFileInAnothersPlaceIsIgnored) {
  ASSERT_TRUE(cache_.Store("d", "s", Session(3)));
  const std::string first = OnlyFile();
  ASSERT_TRUE(cache_.Store("d", "other", Session(2)));
  const std::vector<DirEntry> entries = *ListDir(folder_);
  for (const DirEntry& entry : entries) {
    const std::string path = folder_ + "/" + entry.name;
    if (path == first) continue;
    ASSERT_TRUE(Rename(first, path));
  }
  EXPECT_EQ(cache_.Load("d", "other"), std::nullopt);
}

TEST_F(CacheTest, EveryDamagedByteIsNoticed) {
  ASSERT_TRUE(cache_.Store("d", "s", Session(2)));
  const std::string path = OnlyFile();
  const std::string bytes = *ReadFile(path);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(path, damaged, Durable::kNo));
    EXPECT_EQ(cache_.Load("d", "s"), std::nullopt) << "byte " << at;
    ASSERT_TRUE(ReplaceFile(path, bytes.substr(0, at), Durable::kNo));
    EXPECT_EQ(cache_.Load("d", "s"), std::nullopt) << "cut at " << at;
  }
}

TEST_F(CacheTest, OnlyTheEndIsKept) {
  ASSERT_TRUE(cache_.Store("d", "s", Session(Cache::kMaxEvents + 10)));
  const CachedSession many = *cache_.Load("d", "s");
  EXPECT_EQ(many.events.size(), Cache::kMaxEvents);
  EXPECT_EQ(many.events.back().id, "e510");
  ASSERT_TRUE(cache_.Store("d", "s", Session(9, std::size_t{1} << 20)));
  const CachedSession large = *cache_.Load("d", "s");
  EXPECT_EQ(large.events.size(), 3u);
  EXPECT_EQ(large.events.back().id, "e9");
}

TEST_F(CacheTest, TheOldestGoWhenThereIsNoRoom) {
  const Cache small(folder_, 3000);
  ASSERT_TRUE(small.Store("d", "first", Session(1, 500)));
  const ::utimbuf long_ago = {.actime = 1000, .modtime = 1000};
  ASSERT_EQ(::utime(OnlyFile().c_str(), &long_ago), 0);
  ASSERT_TRUE(small.Store("d", "second", Session(1, 500)));
  EXPECT_TRUE(small.Load("d", "first"));
  ASSERT_TRUE(small.Store("d", "third", Session(1, 1500)));
  EXPECT_FALSE(small.Load("d", "first"));
  EXPECT_TRUE(small.Load("d", "second"));
  EXPECT_TRUE(small.Load("d", "third"));
  ASSERT_TRUE(small.Store("d", "fourth", Session(1, 2500)));
  EXPECT_TRUE(small.Load("d", "fourth"));
  EXPECT_EQ(ListDir(folder_)->size(), 1u);
}

TEST_F(CacheTest, ThereMayBeNothingToKeep) {
  ASSERT_TRUE(cache_.Store("d", "s", Session(0)));
  EXPECT_TRUE(cache_.Load("d", "s")->events.empty());
}

}  // namespace
}  // namespace stet::client
