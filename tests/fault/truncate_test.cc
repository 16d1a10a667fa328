// The log is cut at every byte of its end: what stands wholly before the cut stays readable, the
// torn rest is set aside, and the session goes on.
#include <algorithm>

#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

class TruncateTest : public testing::Test {
 protected:
  void Make(std::uint64_t seed, std::uint64_t events) {
    base_ = SmallSession(temp_.path(), seed, events,
                         {.least_text = 20, .most_text = 1200, .blob_one_in = 0});
    bytes_ = *ReadFile(base_ + "/events.jsonl");
    index_ = *ReadFile(base_ + "/index");
    const auto log = OpenToRead(base_);
    for (const auto& [id, ack] : EventsOf(*log)) {
      const log::Entry& entry = log->index().entries()[*log->Find(id)];
      whole_at_.emplace_back(entry.offset + entry.length, id);
      all_.emplace(id, ack);
    }
    std::ranges::sort(whole_at_);
  }

  /// The events whose lines, but for the LF, stand before the cut.
  [[nodiscard]] Acks WholeBefore(std::size_t cut) const {
    Acks whole;
    for (const auto& [end, id] : whole_at_) {
      if (end <= cut) whole.insert(*all_.find(id));
    }
    return whole;
  }

  void Cut(std::size_t cut) {
    SCOPED_TRACE(testing::Message() << "cut at byte " << cut << " of " << bytes_.size());
    const std::string dir = temp_.Sub("ses_cut");
    ASSERT_TRUE(RemoveTree(dir));
    ASSERT_TRUE(MakeDirs(dir));
    ASSERT_TRUE(ReplaceFile(dir + "/events.jsonl", bytes_.substr(0, cut), Durable::kNo));
    ASSERT_TRUE(ReplaceFile(dir + "/index", index_, Durable::kNo));
    Acks expected = WholeBefore(cut);
    std::vector<std::string> path;
    {
      const auto reader = OpenToRead(dir);
      ASSERT_TRUE(reader);
      EXPECT_EQ(EventsOf(*reader), expected);
      path = PathIds(*reader);
      EXPECT_EQ(StatFile(dir + "/events.jsonl")->size, cut) << "a reader changes nothing";
    }
    std::size_t good = cut;  // What is behind the last whole line is torn.
    const auto lacks_only_lf = [&] { return good < bytes_.size() && bytes_[good] == '\n'; };
    while (good > 0 && bytes_[good - 1] != '\n' && !lacks_only_lf()) --good;
    {
      const auto writer = log::Log::Open(dir, WriteOptions());
      ASSERT_TRUE(writer) << writer.error().Text();
      EXPECT_EQ(PathIds(**writer), path);
    }
    ExpectWritable(dir, expected);
    ExpectNothingLost(dir, expected);
    if (good == cut) {
      EXPECT_FALSE(Exists(dir + "/aside"));
    } else {
      EXPECT_EQ(OnlyFileIn(dir + "/aside"), bytes_.substr(good, cut - good));
    }
  }

  static std::string OnlyFileIn(const std::string& dir) {
    const Result<std::vector<DirEntry>> files = ListDir(dir);
    EXPECT_TRUE(files && files->size() == 1) << dir;
    return files && files->size() == 1 ? *ReadFile(dir + "/" + files->front().name) : "";
  }

  TempDir temp_;
  std::string base_;
  std::string bytes_;
  std::string index_;
  Acks all_;
  std::vector<std::pair<std::size_t, std::string>> whole_at_;  // By the end of their line.
};

TEST_F(TruncateTest, WhatStandsBeforeTheCutIsReadable) {
  Make(1, 170);
  ASSERT_GT(bytes_.size(), TestScale().truncate_bytes);
  for (std::size_t back = 0; back < TestScale().truncate_bytes;
       back += TestScale().truncate_stride) {
    Cut(bytes_.size() - back);
    if (HasFailure()) return;
  }
}

TEST_F(TruncateTest, ACutInTheHeaderLeavesASession) {
  Make(2, 3);
  for (std::size_t cut = 0; cut < bytes_.size(); cut += 1 + TestScale().truncate_stride / 16) {
    Cut(cut);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stet::fault
