// Bits of the log are flipped anywhere: header, events, line ends and crcs. Every flip is found and
// named with its line, everything else stays readable, readers before and after the writer that
// records the gap see the same tree, and the session goes on.
#include <algorithm>
#include <set>

#include "base/fs.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "bench/session_player.h"
#include "log/line.h"
#include "log/verify.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

using log::Log;

struct Line {
  std::size_t offset = 0;
  std::size_t length = 0;  // Without its LF.
};

/// Where an event hangs: what must not depend on who opened the log before.
using Bridges = std::map<std::uint64_t, std::tuple<std::uint64_t, int, std::uint32_t>>;

class FlipTest : public testing::Test {
 protected:
  FlipTest() {
    base_ = SmallSession(temp_.path(), 5, 120, kNoBlobs);
    good_ = *ReadFile(base_ + "/events.jsonl");
    for (std::size_t at = 0; at < good_.size();) {
      const std::size_t end = good_.find('\n', at);
      lines_.push_back({at, end - at});
      at = end + 1;
    }
  }

  /// A fresh copy with `count` flipped bits, near to each other now and then; where they are.
  std::set<std::size_t> Flip(int count) {
    std::string bytes = good_;
    std::set<std::size_t> flipped;
    std::size_t at = random_.Below(bytes.size());
    if (random_.Below(8) == 0) at = random_.Below(lines_[0].length);  // The header.
    if (random_.Below(8) == 0)
      at = lines_[random_.Below(lines_.size())].offset - 1;  // A line's end.
    for (int i = 0; i < count; ++i) {
      at = std::min(at, bytes.size() - 1);
      if (flipped.insert(at).second)
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_.Below(8)));
      at = random_.Below(2) == 0 ? random_.Below(bytes.size()) : at + random_.Below(600);
    }
    dir_ = temp_.Sub("ses_flip");
    EXPECT_TRUE(RemoveTree(dir_));
    EXPECT_TRUE(MakeDirs(dir_));
    EXPECT_TRUE(ReplaceFile(dir_ + "/events.jsonl", bytes, Durable::kNo));
    EXPECT_TRUE(
        ReplaceFile(dir_ + "/summary.json", *ReadFile(base_ + "/summary.json"), Durable::kNo));
    bytes_ = std::move(bytes);
    return flipped;
  }

  /// The events whose bytes were not touched; the LF behind them does not count.
  [[nodiscard]] Acks Undamaged(const std::set<std::size_t>& flipped) const {
    Acks whole;
    for (std::size_t i = 1; i < lines_.size(); ++i) {
      const auto hit = flipped.lower_bound(lines_[i].offset);
      if (hit != flipped.end() && *hit < lines_[i].offset + lines_[i].length) continue;
      const std::string_view text =
          std::string_view(good_).substr(lines_[i].offset, lines_[i].length);
      const auto event = protocol::DecodeEvent(text);
      EXPECT_TRUE(event);
      whole.emplace(event->id, Ack{event->seq, std::string(log::LineCrc(text))});
    }
    return whole;
  }

  void ExpectEveryFlipNamed(const std::set<std::size_t>& flipped) const {
    const auto verdict = log::Verify(dir_);
    ASSERT_TRUE(verdict) << verdict.error().Text();
    for (const std::size_t at : flipped) {
      const auto line =
          1 + std::count(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      const bool named = std::ranges::any_of(verdict->faults, [&](const log::Fault& fault) {
        return fault.line == static_cast<std::uint64_t>(line) && fault.offset <= at &&
               at < fault.offset + fault.length;
      });
      EXPECT_TRUE(named) << "no fault names the flip at byte " << at << ", line " << line;
    }
  }

  static Bridges BridgesOf(const Log& log, std::size_t events) {
    Bridges bridges;
    const auto& entries = log.index().entries();
    for (std::size_t i = 0; i < events; ++i) {
      const auto& entry = entries[i];
      const std::uint64_t parent = entry.parent == log::kNone ? 0 : entries[entry.parent].offset;
      bridges.emplace(entry.offset, std::tuple(parent, entry.flags, entry.open));
    }
    return bridges;
  }

  static int Gaps(const Log& log) {
    return static_cast<int>(std::ranges::count(
        log.index().entries(), protocol::kTypeNumber<protocol::Gap>, &log::Entry::type));
  }

  /// What the writer that comes first does, and what every reader sees after it.
  void ExpectQuarantined(Acks expected) {
    std::size_t events = 0;
    Bridges before;
    std::vector<std::string> path;
    {
      const auto reader = OpenToRead(dir_, false);
      ASSERT_TRUE(reader);
      EXPECT_EQ(EventsOf(*reader), expected);
      events = reader->index().entries().size();
      before = BridgesOf(*reader, events);
      path = PathIds(*reader);
    }
    int gaps = 0;
    {
      const auto writer = Log::Open(dir_, WriteOptions());
      ASSERT_TRUE(writer) << writer.error().Text();
      Log& log = **writer;
      EXPECT_EQ(PathIds(log), path);
      for (const log::Damage& damage : log.index().damages()) {
        EXPECT_EQ(damage.recorded, 1u) << "damage at " << damage.offset;
        EXPECT_TRUE(IsAside(damage)) << "damage at " << damage.offset;
      }
      gaps = Gaps(log);
      PlayOn(log);
    }
    {
      const auto second = Log::Open(dir_, WriteOptions());
      ASSERT_TRUE(second) << second.error().Text();
      EXPECT_EQ(Gaps(**second), gaps) << "the damage was recorded before";
    }
    const auto indexed = OpenToRead(dir_, true);
    const auto scanned = OpenToRead(dir_, false);
    ASSERT_TRUE(indexed && scanned);
    ExpectSameFold(*indexed, *scanned);
    EXPECT_EQ(BridgesOf(*scanned, events), before)
        << "readers bridge alike before and after the gap";
    const Acks after = EventsOf(*scanned);
    EXPECT_TRUE(std::ranges::includes(after, expected));
  }

  void PlayOn(Log& log) {
    bench::SessionPlayer player(log, random_, pool_, kNoBlobs);
    for (int i = 0; i < 4; ++i) {
      const auto appended = player.Step();
      ASSERT_TRUE(appended) << appended.error().Text();
    }
  }

  [[nodiscard]] bool IsAside(const log::Damage& damage) const {
    const auto files = ListDir(dir_ + "/aside");
    return files && std::ranges::any_of(*files, [&](const DirEntry& file) {
             return *ReadFile(dir_ + "/aside/" + file.name) ==
                    bytes_.substr(damage.offset, damage.length);
           });
  }

  static constexpr bench::PlayerOptions kNoBlobs = {.least_text = 20,
                                                    .most_text = 1200,
                                                    .blob_one_in = 0,
                                                    .rewind_one_in = 3,
                                                    .compact_one_in = 4,
                                                    .queue_one_in = 3};

  TempDir temp_;
  Random random_{99};
  bench::TextPool pool_{1};
  std::string base_;
  std::string good_;
  std::vector<Line> lines_;
  std::string dir_;
  std::string bytes_;  // The damaged log.
};

TEST_F(FlipTest, OneFlippedBitIsNamedAndQuarantined) {
  for (int i = 0; i < TestScale().log_flips; ++i) {
    const std::set<std::size_t> flipped = Flip(1);
    SCOPED_TRACE(testing::Message() << "flip " << i << " at byte " << *flipped.begin());
    ExpectEveryFlipNamed(flipped);
    ExpectQuarantined(Undamaged(flipped));
    if (HasFailure()) return;
  }
}

TEST_F(FlipTest, SeveralFlippedBitsAreNamedAndQuarantined) {
  for (int i = 0; i < TestScale().log_flips; ++i) {
    const std::set<std::size_t> flipped = Flip(2 + static_cast<int>(random_.Below(8)));
    SCOPED_TRACE(testing::Message() << "flips " << i << " from byte " << *flipped.begin() << " to "
                                    << *flipped.rbegin());
    ExpectEveryFlipNamed(flipped);
    ExpectQuarantined(Undamaged(flipped));
    if (HasFailure()) return;
  }
}

TEST_F(FlipTest, DamageUnderAGoodIndexIsNeverReadAsGood) {
  for (int i = 0; i < TestScale().log_flips; ++i) {
    const std::set<std::size_t> flipped = Flip(1);
    ASSERT_TRUE(ReplaceFile(dir_ + "/index", *ReadFile(base_ + "/index"), Durable::kNo));
    SCOPED_TRACE(testing::Message() << "flip " << i << " at byte " << *flipped.begin());
    Acks expected = Undamaged(flipped);
    for (const log::Mode mode : {log::Mode::kRead, log::Mode::kWrite}) {
      log::Options options = WriteOptions();
      options.mode = mode;
      const auto log = Log::Open(dir_, options);
      ASSERT_TRUE(log) << log.error().Text();
      Acks there;
      const Status read = (*log)->Read(0, [&](const log::Entry& entry, std::string_view line) {
        there.emplace(protocol::DecodeEvent(line)->id,
                      Ack{entry.seq, std::string(log::LineCrc(line))});
        return true;
      });
      ASSERT_TRUE(read) << read.error().Text();
      EXPECT_TRUE(std::ranges::includes(there, expected));
      if (mode == log::Mode::kWrite) PlayOn(**log);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stet::fault
