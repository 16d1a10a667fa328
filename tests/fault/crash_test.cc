// The writer is killed at every boundary between two changes of a file, in the middle of every
// write, and at random instants; the same session goes on after each kill. Nothing that the log has
// acknowledged may be missing, doubled or changed.
#include <poll.h>

#include "base/random.h"
#include "base/temp_dir.h"
#include "tests/fault/faults.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

constexpr int kStepsPerRun = 12;

class CrashTest : public testing::Test {
 protected:
  /// A session that is already longer than a group of the index file: kills leave the index behind.
  void NewSession(std::uint64_t seed) {
    dir_ = SmallSession(temp_.path(), seed, 500 + seed % 200);
    acks_.clear();
  }

  void CheckAfterKill(const Finished& finished) {
    AddAcks(finished.out, acks_);
    ASSERT_EQ(finished.out.find("error "), std::string::npos) << finished.out;
    ExpectNothingLost(dir_, acks_);
    ++kills_;
  }

  TempDir temp_;
  std::string dir_;
  Acks acks_;
  std::uint64_t seed_ = 0;  // A new one for every run: ids are never used twice.
  int kills_ = 0;
};

TEST_F(CrashTest, KillsAtEveryBoundaryLoseNothing) {
  const Scale& scale = TestScale();
  for (int session = 0; session < scale.boundary_sessions; ++session) {
    // The first session is made by the writer, so its creation is cut short too.
    if (session % 2 == 0)
      dir_ = temp_.Sub("ses_made_by_writer" + std::to_string(session));
    else
      NewSession(static_cast<std::uint64_t>(session));
    if (session % 2 == 0) acks_.clear();
    for (const char* when : {"kill_before", "kill_half", "kill_after"}) {
      for (int at = 1;; ++at) {
        SCOPED_TRACE(testing::Message() << "session " << session << ", " << when << " call " << at);
        const Finished finished = RunWriter(
            {.dir = dir_,
             .seed = ++seed_,
             .steps = kStepsPerRun,
             .relaxed = session % 4 == 3,
             .env = {"STET_SHIM_AT=" + std::to_string(at), std::string("STET_SHIM_DO=") + when}});
        if (finished.exit_code == 0) break;
        ASSERT_EQ(finished.signal, SIGKILL) << finished.out;
        if (!Exists(dir_ + "/events.jsonl")) continue;  // Killed before there was a session.
        CheckAfterKill(finished);
        if (at % 5 == 0) ExpectWritable(dir_, acks_);
        if (HasFailure()) return;
      }
      ExpectNothingLost(dir_, acks_);
    }
  }
  RecordProperty("kills", kills_);
  std::printf("[ kills    ] %d at boundaries\n", kills_);
}

TEST_F(CrashTest, KillsAtRandomInstantsLoseNothing) {
  Random random(11);
  for (int kill = 0; kill < TestScale().random_kills; ++kill) {
    SCOPED_TRACE(testing::Message() << "kill " << kill);
    if (kill % 25 == 0) NewSession(static_cast<std::uint64_t>(kill) + 1000);
    Result<Subprocess> writer = Subprocess::Start(WriterCommand(
        {.dir = dir_, .seed = ++seed_, .steps = 1'000'000, .relaxed = kill % 3 == 0}));
    ASSERT_TRUE(writer) << writer.error().Text();
    // Somewhere behind the first few acknowledgements, or in the middle of the opening.
    const std::size_t enough = random.Below(4) == 0 ? 0 : random.Below(4000);
    std::string out;
    while (out.size() < enough) {
      pollfd wait{.fd = writer->stdout_fd(), .events = POLLIN, .revents = 0};
      ASSERT_GT(::poll(&wait, 1, 10'000), 0) << "the writer says nothing";
      char bytes[4096];
      const ssize_t got = ::read(writer->stdout_fd(), bytes, sizeof bytes);
      ASSERT_GT(got, 0);
      out.append(bytes, static_cast<std::size_t>(got));
    }
    for (std::uint64_t spin = random.Below(200'000); spin > 0; --spin) asm volatile("");
    writer->Kill(SIGKILL);
    pollfd ended{.fd = writer->pidfd(), .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&ended, 1, 10'000), 0);
    ASSERT_TRUE(writer->Reap());
    writer->ReadOutput();
    Finished finished = writer->TakeFinished();
    finished.out = out + finished.out;
    CheckAfterKill(finished);
    if (kill % 5 == 0) ExpectWritable(dir_, acks_);
    if (HasFailure()) return;
  }
  std::printf("[ kills    ] %d at random instants\n", kills_);
}

}  // namespace
}  // namespace stet::fault
