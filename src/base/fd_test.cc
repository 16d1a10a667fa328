#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace stet {
namespace {

int OpenNull() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(Fd, ClosesWhatItOwns) {
  const int number = OpenNull();
  {
    const Fd fd(number);
    EXPECT_TRUE(fd);
    EXPECT_EQ(fd.get(), number);
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(Fd, IsEmptyWhenItOwnsNothing) {
  EXPECT_FALSE(Fd());
  EXPECT_EQ(Fd().get(), -1);
}

TEST(Fd, ReleaseHandsTheDescriptorOver) {
  Fd fd(OpenNull());
  const int number = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(IsOpen(number));
  ::close(number);
}

TEST(Fd, MovingLeavesTheSourceEmptyAndClosesTheOldOne) {
  Fd first(OpenNull());
  Fd second(OpenNull());
  const int kept = first.get();
  const int closed = second.get();
  second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is what is tested.
  EXPECT_EQ(second.get(), kept);
  EXPECT_TRUE(IsOpen(kept));
  EXPECT_FALSE(IsOpen(closed));
}

}  // namespace
}  // namespace stet
