#include "acp/output.h"

#include <csignal>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/fd.h"

namespace stet::acp {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  [[nodiscard]] bool IsWritable() const {
    pollfd one{.fd = write.get(), .events = POLLOUT, .revents = 0};
    return ::poll(&one, 1, 0) == 1 && (one.revents & POLLOUT) != 0;
  }
  std::string Read() const {
    char bytes[65536];
    const ssize_t got = ::read(read.get(), bytes, sizeof bytes);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
  }
  Fd read;
  Fd write;
};

TEST(OutputTest, LinesComeWholeAndInOrderWhateverThePipeTakesAtOnce) {
  int woken = 0;
  Output output([&] { ++woken; });
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string line(static_cast<std::size_t>(i) * 1000, static_cast<char>('a' + i % 26));
    output.Push(line);
    all += line + "\n";
  }
  EXPECT_EQ(woken, 50);
  const Pipe pipe;
  std::string got;
  while (!output.empty()) {
    if (pipe.IsWritable())
      ASSERT_TRUE(output.WriteSome(pipe.write.get()));
    else
      got += pipe.Read();
  }
  while (got.size() < all.size()) got += pipe.Read();
  EXPECT_EQ(got, all);
}

TEST(OutputTest, WhoeverDoesNotReadIsGoneAtTheCap) {
  Output output([] {});
  const std::string line(Output::kMaxWaiting / 4, 'x');
  for (int i = 0; i < 3; ++i) output.Push(line);
  EXPECT_FALSE(output.overrun());
  output.Push(line);
  EXPECT_TRUE(output.overrun());
}

TEST(OutputTest, ThereIsRoomAgainWhenTheClientHasRead) {
  Output output([] {});
  EXPECT_TRUE(output.has_room());
  output.Push(std::string(Output::kEnough + 1, 'x'));
  EXPECT_FALSE(output.has_room());
  const Pipe pipe;
  while (!output.empty()) {
    if (pipe.IsWritable())
      ASSERT_TRUE(output.WriteSome(pipe.write.get()));
    else
      pipe.Read();
  }
  EXPECT_TRUE(output.has_room());
}

TEST(OutputTest, NobodyToReadIsAnError) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.read.reset();
  Output output([] {});
  output.Push("line");
  EXPECT_FALSE(output.WriteSome(pipe.write.get()));
}

}  // namespace
}  // namespace stet::acp
