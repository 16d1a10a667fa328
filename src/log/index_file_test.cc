#include "log/index_file.h"

#include <gtest/gtest.h>

#include "log/log_fixture.h"

namespace stet::log {
namespace {

class IndexFileTest : public LogTest {
 protected:
  std::string IndexPath() { return Dir() + "/index"; }

  void FillAndClose(int events) {
    auto log = Create();
    for (int i = 0; i < events; ++i) Append(*log, User("message " + std::to_string(i)));
  }

  /// Opening must give the same as a full scan, whatever the index file holds.
  void ExpectSameAsScan() {
    auto indexed = Open(Mode::kRead, true);
    auto scanned = Open(Mode::kRead, false);
    EXPECT_EQ(PathIds(*indexed), PathIds(*scanned));
    EXPECT_EQ(indexed->index().state(), scanned->index().state());
    EXPECT_EQ(indexed->last_seq(), scanned->last_seq());
  }
};

TEST_F(IndexFileTest, OnlyTheTailBehindItIsScanned) {
  FillAndClose(600);
  const std::string index = *ReadFile(IndexPath());
  {
    auto log = Open();
    for (int i = 0; i < 10; ++i) Append(*log, User("later"));
  }
  ASSERT_TRUE(ReplaceFile(IndexPath(), index, Durable::kNo));  // As a crash would leave it.
  ExpectSameAsScan();
}

TEST_F(IndexFileTest, AMissingDamagedOrForeignIndexIsNotUsed) {
  FillAndClose(20);
  const std::string good = *ReadFile(IndexPath());
  for (std::size_t byte = 0; byte < good.size(); byte += 7) {
    std::string damaged = good;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    ASSERT_TRUE(ReplaceFile(IndexPath(), damaged, Durable::kNo));
    ExpectSameAsScan();
  }
  for (std::size_t length = 0; length < good.size(); length += 13) {
    ASSERT_TRUE(ReplaceFile(IndexPath(), good.substr(0, length), Durable::kNo));
    ExpectSameAsScan();
  }
  ASSERT_TRUE(Remove(IndexPath()));
  ExpectSameAsScan();
}

TEST_F(IndexFileTest, AnIndexAheadOfItsLogIsNotUsed) {
  FillAndClose(20);
  const std::string bytes = *ReadFile(EventsPath());
  const std::size_t cut = bytes.rfind('\n', bytes.size() - 2) + 1;
  ASSERT_TRUE(ReplaceFile(EventsPath(), bytes.substr(0, cut), Durable::kNo));
  ExpectSameAsScan();
  auto log = Open();
  Append(*log, User("on"));
  EXPECT_TRUE(log->Close());
  ExpectSameAsScan();
}

TEST_F(IndexFileTest, AnIndexOfAnotherLogIsNotUsed) {
  FillAndClose(5);
  {
    auto other = Create("ses_other");
    Append(*other, User("x"));
  }
  ASSERT_TRUE(ReplaceFile(IndexPath(), *ReadFile(Dir("ses_other") + "/index"), Durable::kNo));
  ExpectSameAsScan();
}

}  // namespace
}  // namespace stet::log
