// Every call that changes or flushes a file fails once, in turn: with no room, with an I/O error,
// with a short write. The writer goes on or is read-only as the failure asks; nothing acknowledged
// is lost.
#include "base/fs.h"
#include "base/temp_dir.h"
#include "tests/fault/faults.h"

namespace stet::fault {
namespace {

constexpr int kSteps = 14;

class FailedCallTest : public testing::Test {
 protected:
  FailedCallTest() { dir_ = SmallSession(temp_.path(), 12, 505); }

  /// Makes call 1, 2, 3, ... of `only` on such a path fail until there are no more of them; how
  /// many there were.
  int FailEach(const std::string& what, const std::string& only, const std::string& path,
               const std::function<void(const Finished&)>& check) {
    const std::string calls = temp_.Sub("calls");
    for (int at = 1;; ++at) {
      SCOPED_TRACE(what + " at call " + std::to_string(at));
      const Finished finished = RunWriter(
          {.dir = dir_,
           .seed = ++seed_,
           .steps = kSteps,
           .env = {"STET_SHIM_DO=" + what, "STET_SHIM_ONLY=" + only, "STET_SHIM_PATH=" + path,
                   "STET_SHIM_AT=" + std::to_string(at), "STET_SHIM_LOG=" + calls}});
      AddAcks(finished.out, acks_);
      ExpectNothingLost(dir_, acks_);
      if (ReadFile(calls)->find("fault ") == std::string::npos) return at - 1;
      EXPECT_TRUE(Remove(calls));
      check(finished);
      if (at % 8 == 0) ExpectWritable(dir_, acks_);
      if (HasFailure()) return at;
    }
  }

  TempDir temp_;
  std::string dir_;
  Acks acks_;
  std::uint64_t seed_ = 100;
};

std::size_t Count(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST_F(FailedCallTest, AfterNoRoomTheLogGoesOn) {
  const int calls = FailEach("enospc", "write,pwrite", "", [](const Finished& finished) {
    EXPECT_LE(Count(finished.out, "error full"), 1U)
        << "the next append tries again: " << finished.out;
    EXPECT_EQ(Count(finished.out, "error"), Count(finished.out, "error full")) << finished.out;
  });
  EXPECT_GT(calls, 15);
}

TEST_F(FailedCallTest, AShortWriteIsWrittenOn) {
  const int calls = FailEach("short", "write,pwrite", "", [](const Finished& finished) {
    EXPECT_EQ(finished.exit_code, 0) << finished.out;
  });
  EXPECT_GT(calls, 15);
}

TEST_F(FailedCallTest, AnIoErrorAnywhereLosesNothing) {
  const int calls =
      FailEach("eio", "write,pwrite,fdatasync,fsync,ftruncate,rename,link,unlink", "",
               [](const Finished& finished) { EXPECT_EQ(finished.signal, 0) << finished.out; });
  EXPECT_GT(calls, 25);
}

TEST_F(FailedCallTest, AfterAFailedWriteOrFlushOfTheLogNothingIsAcknowledged) {
  const int calls =
      FailEach("eio", "write,fdatasync", "events.jsonl", [](const Finished& finished) {
        const std::size_t error = finished.out.find("error io");
        ASSERT_NE(error, std::string::npos) << finished.out;
        EXPECT_EQ(finished.out.find("ack ", error), std::string::npos)
            << "the log is read-only now: " << finished.out;
        EXPECT_EQ(finished.out.find("leaked"), std::string::npos)
            << "unflushed is unseen: " << finished.out;
        EXPECT_EQ(finished.out.find("closed"), std::string::npos) << "closing says so too";
      });
  EXPECT_GT(calls, 15);
}

}  // namespace
}  // namespace stet::fault
