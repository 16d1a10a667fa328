// The index file is damaged, cut, or another session's: whatever it says, opening gives what the
// log says.
#include "base/fs.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

class IndexFlipTest : public testing::Test {
 protected:
  IndexFlipTest() {
    dir_ = SmallSession(temp_.path(), 6, 1100);  // Three groups.
    index_ = *ReadFile(Path());
    scanned_ = OpenToRead(dir_, false);
  }

  [[nodiscard]] std::string Path() const { return dir_ + "/index"; }

  void ExpectSameWith(const std::string& index) {
    ASSERT_TRUE(ReplaceFile(Path(), index, Durable::kNo));
    const auto indexed = OpenToRead(dir_, true);
    ASSERT_TRUE(indexed);
    ExpectSameFold(*indexed, *scanned_);
  }

  TempDir temp_;
  Random random_{4};
  std::string dir_;
  std::string index_;
  std::unique_ptr<log::Log> scanned_;
};

TEST_F(IndexFlipTest, FlippedBitsNeverChangeWhatIsRead) {
  for (int i = 0; i < TestScale().index_flips; ++i) {
    std::string damaged = index_;
    const std::size_t flips = 1 + random_.Below(3);
    for (std::size_t n = 0; n < flips; ++n) {
      // The starts of the file and of its first group hold what is not under a crc.
      const std::size_t at =
          random_.Below(2) == 0 ? random_.Below(64) : random_.Below(damaged.size());
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << random_.Below(8)));
    }
    SCOPED_TRACE(testing::Message() << "flip " << i);
    ExpectSameWith(damaged);
    if (HasFailure()) return;
  }
}

TEST_F(IndexFlipTest, ACutIndexNeverChangesWhatIsRead) {
  for (int i = 0; i < TestScale().index_flips; ++i) {
    const std::size_t cut = random_.Below(index_.size());
    SCOPED_TRACE(testing::Message() << "cut at " << cut);
    ExpectSameWith(index_.substr(0, cut));
    if (HasFailure()) return;
  }
}

TEST_F(IndexFlipTest, AWriterMendsADamagedIndex) {
  Acks acks;
  for (int i = 0; i < TestScale().index_flips / 10; ++i) {
    std::string damaged = *ReadFile(Path());
    const std::size_t at = random_.Below(damaged.size());
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random_.Below(8)));
    ASSERT_TRUE(ReplaceFile(Path(), damaged, Durable::kNo));
    SCOPED_TRACE(testing::Message() << "flip " << i << " at byte " << at);
    ExpectWritable(dir_, acks);
    ExpectNothingLost(dir_, acks);
    if (HasFailure()) return;
  }
}

TEST_F(IndexFlipTest, AnotherSessionsIndexIsNotUsed) {
  const std::string other = SmallSession(temp_.path(), 7, 1100);
  ExpectSameWith(*ReadFile(other + "/index"));
}

}  // namespace
}  // namespace stet::fault
