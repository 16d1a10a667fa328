#include "face/slow_notice.h"

#include <array>
#include <chrono>

#include <gtest/gtest.h>
#include <unistd.h>

namespace stet::face {
namespace {

TEST(SlowNoticeTest, WhatTakesLongIsSaid) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const int before = ::dup(STDERR_FILENO);
  ASSERT_EQ(::dup2(pipe[1], STDERR_FILENO), STDERR_FILENO);
  Console console;
  std::array<char, 100> buffer{};
  {
    const SlowNotice slow(console, "the mill", std::chrono::milliseconds(0));
    ASSERT_GT(::read(pipe[0], buffer.data(), buffer.size()), 0);  // Until it is said.
  }
  ::dup2(before, STDERR_FILENO);
  EXPECT_STREQ(buffer.data(), "stet: waiting for the mill\n");
  for (const int fd : {before, pipe[0], pipe[1]}) ::close(fd);
}

TEST(SlowNoticeTest, WhatIsDoneSoonerIsNotSaidAndItsEndDoesNotWait) {
  testing::internal::CaptureStderr();
  Console console;
  const auto begin = std::chrono::steady_clock::now();
  {
    const SlowNotice slow(console, "the mill", std::chrono::hours(1));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace stet::face
