#include "client/cache.h"

#include <gtest/gtest.h>
#include <utime.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet::client {
namespace {

using protocol::Event;

std::vector<Event> Session(std::size_t events, std::size_t bytes_each = 10) {
  std::vector<Event> session;
  for (std::size_t i = 1; i <= events; ++i) {
    Event& event = session.emplace_back();
    event.seq = i;
    event.id = "e" + std::to_string(i);
    protocol::UserMessage message;
    protocol::TextBlock text;
    text.text = std::string(bytes_each, 'x');
    message.message.blocks.emplace_back(text);
    event.payload = message;
  }
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

  static Status Keep(const Cache& cache, const std::string& device, const std::string& session,
                     const std::vector<Event>& events) {
    std::vector<const Event*> path;
    for (const Event& event : events) path.push_back(&event);
    return cache.Store(device, session, path);
  }
  Status Keep(const std::string& device, const std::string& session,
              const std::vector<Event>& events) {
    return Keep(cache_, device, session, events);
  }

  TempDir dir_;
  std::string folder_ = dir_.Sub("cache/attach");
  Cache cache_{folder_};
};

TEST_F(CacheTest, GivesBackWhatWasKeptUntilItIsForgotten) {
  const std::vector<Event> session = Session(3);
  EXPECT_TRUE(cache_.Load("d", "s").empty());
  ASSERT_TRUE(Keep("d", "s", session));
  EXPECT_EQ(cache_.Load("d", "s"), session);
  cache_.Forget("d", "other");
  EXPECT_EQ(cache_.Load("d", "s"), session);
  cache_.Forget("d", "s");
  EXPECT_TRUE(cache_.Load("d", "s").empty());
}

TEST_F(CacheTest, SessionsOfOtherDevicesAreOthers) {
  ASSERT_TRUE(Keep("d", "s", Session(3)));
  EXPECT_TRUE(cache_.Load("d2", "s").empty());
  EXPECT_TRUE(cache_.Load("d", "s2").empty());
  ASSERT_TRUE(Keep("d2", "s", Session(1)));
  EXPECT_EQ(cache_.Load("d", "s").size(), 3u);
}

TEST_F(CacheTest, AFileInAnothersPlaceIsIgnored) {
  ASSERT_TRUE(Keep("d", "s", Session(3)));
  const std::string first = OnlyFile();
  ASSERT_TRUE(Keep("d", "other", Session(2)));
  const std::vector<DirEntry> entries = *ListDir(folder_);
  for (const DirEntry& entry : entries) {
    const std::string path = folder_ + "/" + entry.name;
    if (path == first) continue;
    ASSERT_TRUE(Rename(first, path));
  }
  EXPECT_TRUE(cache_.Load("d", "other").empty());
}

TEST_F(CacheTest, EveryDamagedByteIsNoticed) {
  ASSERT_TRUE(Keep("d", "s", Session(2)));
  const std::string path = OnlyFile();
  const std::string bytes = *ReadFile(path);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    ASSERT_TRUE(ReplaceFile(path, damaged, Durable::kNo));
    EXPECT_TRUE(cache_.Load("d", "s").empty()) << "byte " << at;
    ASSERT_TRUE(ReplaceFile(path, bytes.substr(0, at), Durable::kNo));
    EXPECT_TRUE(cache_.Load("d", "s").empty()) << "cut at " << at;
  }
}

TEST_F(CacheTest, OnlyTheEndIsKept) {
  ASSERT_TRUE(Keep("d", "s", Session(Cache::kMaxEvents + 10)));
  const std::vector<Event> many = cache_.Load("d", "s");
  EXPECT_EQ(many.size(), Cache::kMaxEvents);
  EXPECT_EQ(many.back().id, "e510");
  ASSERT_TRUE(Keep("d", "s", Session(9, std::size_t{1} << 20)));
  const std::vector<Event> large = cache_.Load("d", "s");
  EXPECT_EQ(large.size(), 3u);
  EXPECT_EQ(large.back().id, "e9");
}

TEST_F(CacheTest, TheOldestGoWhenThereIsNoRoom) {
  const Cache small(folder_, 3000);
  ASSERT_TRUE(Keep(small, "d", "first", Session(1, 500)));
  const ::utimbuf long_ago = {.actime = 1000, .modtime = 1000};
  ASSERT_EQ(::utime(OnlyFile().c_str(), &long_ago), 0);
  ASSERT_TRUE(Keep(small, "d", "second", Session(1, 500)));
  EXPECT_EQ(small.Load("d", "first").size(), 1u);
  ASSERT_TRUE(Keep(small, "d", "third", Session(1, 1500)));
  EXPECT_TRUE(small.Load("d", "first").empty());
  EXPECT_EQ(small.Load("d", "second").size(), 1u);
  EXPECT_EQ(small.Load("d", "third").size(), 1u);
  ASSERT_TRUE(Keep(small, "d", "fourth", Session(1, 2500)));
  EXPECT_EQ(small.Load("d", "fourth").size(), 1u);
  EXPECT_EQ(ListDir(folder_)->size(), 1u);
}

TEST_F(CacheTest, ThereMayBeNothingToKeep) {
  ASSERT_TRUE(Keep("d", "s", Session(0)));
  EXPECT_TRUE(cache_.Load("d", "s").empty());
}

}  // namespace
}  // namespace stet::client
