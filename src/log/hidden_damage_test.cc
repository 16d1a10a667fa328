// Damage that came after the index was made: found when it is read, set aside by the next opening.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "log/clone.h"
#include "log/log_fixture.h"
#include "log/verify.h"

namespace stet::log {
namespace {

class HiddenDamageTest : public LogTest {
 protected:
  void SetUp() override {
    {
      auto log = Create();
      for (int turn = 0; turn < 3; ++turn) {
        const std::string call = "call_" + std::to_string(turn);
        Append(*log, User("do it " + call));
        Append(*log, Assistant("I do it", {call}));
        Append(*log, ResultOf(call));
        Append(*log, Assistant("done " + call));
        Append(*log, {.payload = protocol::Custom{.kind = "note"}});
      }
    }
    events_ = *ReadFile(EventsPath());
    index_ = *ReadFile(IndexPath());
    summary_ = *ReadFile(SummaryPath());
  }

  std::string IndexPath() { return Dir() + "/index"; }
  std::string SummaryPath() { return Dir() + "/summary.json"; }

  /// As it was at first, but for one bit; the file stays the same one.
  void Flip(std::size_t at) {
    std::string bytes = events_;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    const Fd fd = OpenFile(EventsPath(), O_WRONLY | O_TRUNC).value();
    ASSERT_TRUE(WriteAll(fd.get(), bytes));
    ASSERT_TRUE(ReplaceFile(IndexPath(), index_, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(SummaryPath(), summary_, Durable::kNo));
  }

  /// Opens the session, reads the path and goes on, as who works on it does.
  Status Work() {
    ASSIGN_OR_RETURN(const std::unique_ptr<Log> log, Log::Open(Dir(), WriteOptions()));
    RETURN_IF_ERROR(ReadPath(*log));
    std::vector<Draft> batch;
    batch.push_back(User("go on"));
    RETURN_IF_ERROR(log->Append(std::move(batch)));
    return log->Close();
  }

  static Status ReadPath(const Log& log) {
    for (const Ordinal event : PathTo(log.index(), log.index().leaf()))
      RETURN_IF_ERROR(log.EventAt(event));
    return {};
  }

  std::string events_;
  std::string index_;
  std::string summary_;
};

TEST_F(HiddenDamageTest, AFlippedBitInAnyLineCostsOneTryAtMost) {
  const std::size_t path = PathIds(*Open(Mode::kRead)).size();
  int failed = 0;
  for (std::size_t start = 0; start < events_.size();) {
    const std::size_t end = events_.find('\n', start);
    SCOPED_TRACE(testing::Message() << "the line from byte " << start);
    Flip((start + end) / 2);
    const Status first = Work();
    if (!first) {
      ++failed;
      EXPECT_EQ(first.error().code, Code::kCorrupt);
      EXPECT_FALSE(Exists(IndexPath())) << "it hides the damage";
      const Status second = Work();
      ASSERT_TRUE(second) << second.error().Text();
      auto scanned = Open(Mode::kRead, false);
      ASSERT_EQ(scanned->index().damages().size(), 1u);
      EXPECT_EQ(scanned->index().damages()[0].recorded, 1u);
    }
    auto scanned = Open(Mode::kRead, false);
    auto indexed = Open(Mode::kRead, true);
    EXPECT_GE(PathIds(*scanned).size(), path) << "one is lost at most, and one was added";
    EXPECT_EQ(PathIds(*scanned).size(), PathTo(indexed->index(), indexed->index().leaf()).size());
    start = end + 1;
  }
  EXPECT_GT(failed, 5);
}

TEST_F(HiddenDamageTest, ARunningWriterThatMeetsItDropsTheIndexAndKeepsWriting) {
  const std::vector<std::string> whole = PathIds(*Open(Mode::kRead));
  {
    auto log = Open();
    const std::string damaged = whole[4];
    const Ordinal event = log->Find(damaged).value();
    const Entry& entry = log->index().entries()[event];
    std::string line = *log->LineAt(event);
    line[line.size() / 2] = static_cast<char>(line[line.size() / 2] ^ 1);
    const Fd fd = OpenFile(EventsPath(), O_WRONLY).value();
    ASSERT_EQ(::pwrite(fd.get(), line.data(), line.size(), static_cast<off_t>(entry.offset)),
              static_cast<ssize_t>(line.size()));
    EXPECT_FALSE(log->met_damage());
    EXPECT_EQ(log->EventAt(event).error().code, Code::kCorrupt);
    EXPECT_TRUE(log->met_damage());
    Append(*log, User("on"));
    EXPECT_TRUE(log->Close());
    EXPECT_FALSE(Exists(IndexPath()));
  }
  auto again = Open();
  EXPECT_EQ(PathIds(*again).size(), whole.size()) << "one is lost, one was added";
  EXPECT_EQ(again->index().damages().size(), 1u);
  EXPECT_FALSE(again->met_damage());
}

TEST_F(HiddenDamageTest, AReaderScansAndChangesNothing) {
  Flip(events_.find("do it call_1"));
  const std::string damaged = *ReadFile(EventsPath());
  int times = 0;
  std::size_t path = 0;
  const Status read = ReadLog(Dir(), [&](Log& log) {
    ++times;
    path = PathTo(log.index(), log.index().leaf()).size();
    return ReadPath(log);
  });
  EXPECT_TRUE(read) << read.error().Text();
  EXPECT_EQ(times, 2);
  EXPECT_EQ(path, 11u);
  EXPECT_EQ(*ReadFile(EventsPath()), damaged);
  EXPECT_EQ(*ReadFile(IndexPath()), index_);
}

TEST_F(HiddenDamageTest, WhatReadPassesOverIsMet) {
  Flip(events_.find("do it call_1"));
  auto log = Open(Mode::kRead);
  int events = 0;
  ASSERT_TRUE(log->Read(0, [&](const Entry&, std::string_view) { return ++events > 0; }));
  EXPECT_EQ(static_cast<std::size_t>(events), log->index().entries().size() - 1);
  EXPECT_TRUE(log->met_damage());
}

TEST_F(HiddenDamageTest, ACloneIsMadeFromAScan) {
  Flip(events_.find("do it call_1"));
  const CloneTarget target{Dir("ses_copy"), "ses_copy", "dev_test"};
  const auto clone = [&](Log& log) { return Clone(log, std::nullopt, target, WriteOptions()); };
  EXPECT_EQ(clone(*Open(Mode::kRead)).error().code, Code::kCorrupt);
  EXPECT_FALSE(Exists(target.dir));
  const Status cloned = ReadLog(Dir(), clone);
  ASSERT_TRUE(cloned) << cloned.error().Text();
  EXPECT_TRUE(Verify(target.dir)->sound());
}

}  // namespace
}  // namespace stet::log
