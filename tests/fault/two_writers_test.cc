// Two processes want to write one session: the second is told who holds it, and opens at once when
// the first is dead.
#include <poll.h>

#include "base/temp_dir.h"
#include "tests/fault/faults.h"

namespace stet::fault {
namespace {

class TwoWritersTest : public testing::Test {
 protected:
  /// A writer that has the session open, and writes for as long as it lives.
  Subprocess StartWriter() {
    Result<Subprocess> writer =
        Subprocess::Start(WriterCommand({.dir = dir_, .seed = ++seed_, .steps = 1'000'000}));
    EXPECT_TRUE(writer) << writer.error().Text();
    std::string said;
    while (said.find("ack ") == std::string::npos) {
      pollfd wait{.fd = writer->stdout_fd(), .events = POLLIN, .revents = 0};
      EXPECT_GT(::poll(&wait, 1, 10'000), 0);
      char bytes[512];
      const ssize_t got = ::read(writer->stdout_fd(), bytes, sizeof bytes);
      if (got <= 0) break;
      said.append(bytes, static_cast<std::size_t>(got));
    }
    EXPECT_NE(said.find("ack "), std::string::npos) << said;
    AddAcks(said, acks_);
    return *std::move(writer);
  }

  TempDir temp_;
  std::string dir_ = temp_.Sub("ses_shared");
  Acks acks_;
  std::uint64_t seed_ = 0;
};

TEST_F(TwoWritersTest, TheSecondIsToldThePidOfTheFirst) {
  const Subprocess first = StartWriter();
  const Finished second = RunWriter({.dir = dir_, .seed = ++seed_, .steps = 1});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_EQ(second.out.find("error busy"), 0U) << second.out;
  EXPECT_NE(second.out.find("process " + std::to_string(first.pid()) + " "), std::string::npos)
      << second.out;
  EXPECT_TRUE(OpenToRead(dir_)) << "reading needs no lock";
}

TEST_F(TwoWritersTest, WhenTheFirstIsKilledTheSecondOpensAtOnce) {
  for (int round = 0; round < 10; ++round) {
    Subprocess first = StartWriter();
    first.Kill(SIGKILL);
    pollfd ended{.fd = first.pidfd(), .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&ended, 1, 10'000), 0);
    const Finished second = RunWriter({.dir = dir_, .seed = ++seed_, .steps = 3});
    EXPECT_EQ(second.exit_code, 0) << second.out;
    AddAcks(second.out, acks_);
    ExpectNothingLost(dir_, acks_);
  }
}

TEST_F(TwoWritersTest, OfManyAtOnceOneWrites) {
  RunWriter({.dir = dir_, .seed = ++seed_, .steps = 3});
  constexpr int kWriters = 8;
  std::vector<Subprocess> writers;
  for (int i = 0; i < kWriters; ++i) {
    Result<Subprocess> writer =
        Subprocess::Start(WriterCommand({.dir = dir_, .seed = ++seed_, .steps = 1'000'000}));
    ASSERT_TRUE(writer);
    writers.push_back(*std::move(writer));
  }
  int refused = 0;
  for (Subprocess& writer : writers) {
    pollfd said{.fd = writer.stdout_fd(), .events = POLLIN, .revents = 0};
    ASSERT_GT(::poll(&said, 1, 20'000), 0);
    writer.ReadOutput();
    if (writer.TakeFinished().out.find("error busy") == 0) ++refused;
  }
  EXPECT_EQ(refused, kWriters - 1);
}

}  // namespace
}  // namespace stet::fault
