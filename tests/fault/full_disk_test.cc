// A disk without room: nothing acknowledged is lost, what was there stays readable, and the same
// open log goes on once there is room again.
#include <csignal>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "bench/session_player.h"
#include "log/line.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

/// Gives the process its own mounts, before there is any thread; they end with it.
class OwnMounts final : public testing::Environment {
 public:
  void SetUp() override {
    own = ::unshare(CLONE_NEWNS) == 0 &&
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }

  static inline bool own = false;
};
[[maybe_unused]] testing::Environment* const kOwnMounts =
    testing::AddGlobalTestEnvironment(new OwnMounts);

class FullDiskTest : public testing::Test {
 protected:
  /// Plays until there is no room; what was acknowledged is in acks_.
  void FillUp(log::Log& log, bench::SessionPlayer& player) {
    for (int steps = 0; steps < 100'000; ++steps) {
      const Result<log::Appended> appended = player.Step();
      if (!appended) {
        ASSERT_EQ(appended.error().code, Code::kFull) << appended.error().Text();
        return;
      }
      for (const std::string& id : appended->ids) Acknowledge(log, id);
    }
    FAIL() << "the disk never became full";
  }

  void Acknowledge(log::Log& log, const std::string& id) {
    const Result<log::Ordinal> event = log.Find(id);
    ASSERT_TRUE(event) << event.error().Text();
    const Result<std::string> line = log.LineAt(*event);
    ASSERT_TRUE(line) << line.error().Text();
    acks_.emplace(id, Ack{log.index().entries()[*event].seq, std::string(log::LineCrc(*line))});
  }

  static void FillEveryPage(const std::string& path) {
    const Result<Fd> fd = OpenFile(path, O_WRONLY | O_CREAT);
    ASSERT_TRUE(fd) << fd.error().Text();
    EXPECT_EQ(WriteAll(fd->get(), std::string(std::size_t{1} << 20, 'b')).error().code,
              Code::kFull);
  }

  /// Fills the disk and makes room, `rounds` times, with one log that stays open.
  void FillAndGoOn(const std::string& dir, int rounds, const std::function<void()>& make_room) {
    protocol::Header header;
    header.session_id = "ses_full";
    Result<std::unique_ptr<log::Log>> log = log::Log::Create(dir, header, WriteOptions());
    ASSERT_TRUE(log) << log.error().Text();
    bench::SessionPlayer player(**log, random_, pool_,
                                {.least_text = 100, .most_text = 9000, .blob_one_in = 20});
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE(testing::Message() << "round " << round);
      const std::size_t before = acks_.size();
      FillUp(**log, player);
      EXPECT_GT(acks_.size(), before) << "the log went on";
      EXPECT_EQ(StatFile(dir + "/events.jsonl")->size, (*log)->index().bytes())
          << "what did not fit is taken back";
      ExpectNothingLost(dir, acks_);
      make_room();
      if (HasFailure()) return;
    }
    FillUp(**log, player);
    (*log).reset();
    ExpectNothingLost(dir, acks_);
    make_room();
    ExpectWritable(dir, acks_);
    ExpectNothingLost(dir, acks_);
  }

  TempDir temp_;
  Random random_{8};
  bench::TextPool pool_{1};
  Acks acks_;
};

TEST_F(FullDiskTest, AFullFileSystemLosesNothingAndTheLogGoesOn) {
  const std::string disk = temp_.Sub("disk");
  ASSERT_TRUE(MakeDirs(disk));
  std::size_t kilobytes = 400;
  const auto mount = [&](unsigned long flags) {
    const std::string size = "size=" + std::to_string(kilobytes) + "k";
    return ::mount("small", disk.c_str(), "tmpfs", flags, size.c_str()) == 0;
  };
  if (!OwnMounts::own || !mount(0)) GTEST_SKIP() << "mounting needs root; RLIMIT_FSIZE stands in";
  FillAndGoOn(disk + "/ses_full", TestScale().full_disk_rounds, [&] {
    kilobytes += 300;
    ASSERT_TRUE(mount(MS_REMOUNT));
  });
}

TEST_F(FullDiskTest, AnOpeningWithoutRoomIsRefusedAndHarmsNothing) {
  const std::string disk = temp_.Sub("disk");
  ASSERT_TRUE(MakeDirs(disk));
  if (!OwnMounts::own || ::mount("small", disk.c_str(), "tmpfs", 0, "size=900k") != 0)
    GTEST_SKIP() << "mounting needs root";
  const std::string dir = SmallSession(disk, 3, 300);
  {
    const auto log = OpenToRead(dir);
    acks_ = EventsOf(*log);
  }
  FillEveryPage(disk + "/ballast");
  // The log's own last page may have room for a few more openings.
  while (true) {
    const auto refused = log::Log::Open(dir, WriteOptions());
    ExpectNothingLost(dir, acks_);
    if (!refused) {
      EXPECT_EQ(refused.error().code, Code::kFull) << refused.error().Text();
      break;
    }
  }
  ASSERT_TRUE(Remove(disk + "/ballast"));
  ExpectWritable(dir, acks_);
  ExpectNothingLost(dir, acks_);
}

TEST_F(FullDiskTest, AFileSizeLimitIsAFullDisk) {
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  rlim_t bytes = 100'000;
  const auto limit = [&] {
    bytes += 150'000;
    const rlimit smaller{.rlim_cur = bytes, .rlim_max = unlimited.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &smaller), 0);
  };
  limit();
  FillAndGoOn(temp_.Sub("ses_full"), TestScale().full_disk_rounds, limit);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  std::signal(SIGXFSZ, previous);
}

}  // namespace
}  // namespace stet::fault
