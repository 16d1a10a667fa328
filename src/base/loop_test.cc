#include "base/loop.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

namespace stet {
namespace {

using std::chrono::milliseconds;

Async<int> Twice(int number) { co_return 2 * number; }

Async<std::int64_t> SumOfMany(int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await Twice(i);
  co_return sum;
}

TEST(TaskTest, AMillionTasksInARowNeedNoStack) {
  Loop loop;
  EXPECT_EQ(loop.RunUntilDone(SumOfMany(1'000'000)), 999'999'000'000);
}

TEST(LoopTest, PostedWorkRunsInOrderAndNotInsideThePost) {
  Loop loop;
  std::string order;
  loop.Post([&] {
    loop.Post([&] { order += 'c'; });
    order += 'a';
  });
  loop.Post([&] { order += 'b'; });
  loop.Post([&] { loop.Post([&] { loop.Stop(); }); });
  loop.Run();
  EXPECT_EQ(order, "abc");
}

TEST(LoopTest, AStopBeforeTheRunIsRemembered) {
  Loop loop;
  loop.Stop();
  loop.Run();
}

TEST(LoopTest, WorkIsTakenFromOtherThreads) {
  Loop loop;
  int done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) {
        loop.Post([&] {
          if (++done == 4000) loop.Stop();
        });
      }
    });
  }
  loop.Run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 4000);
}

TEST(TimerTest, StartingAgainForgetsTheTimeBefore) {
  Loop loop;
  Timer timer(loop);
  std::string order;
  timer.Start(milliseconds(0), [&] { order += 'x'; });
  timer.Start(milliseconds(1), [&] {
    order += 'a';
    loop.Stop();
  });
  Timer cancelled(loop);
  cancelled.Start(milliseconds(0), [&] { order += 'y'; });
  cancelled.Cancel();
  loop.Run();
  EXPECT_EQ(order, "a");
}

TEST(TimerTest, ATimerMayDieInItsOwnCallback) {
  Loop loop;
  auto timer = std::make_unique<Timer>(loop);
  timer->Start(milliseconds(0), [&] {
    timer.reset();
    loop.Stop();
  });
  loop.Run();
  EXPECT_EQ(timer, nullptr);
}

class FdWatchTest : public testing::Test {
 protected:
  FdWatchTest() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    near_ = Fd(fds[0]);
    far_ = Fd(fds[1]);
  }

  Loop loop_;
  Fd near_;
  Fd far_;
};

TEST_F(FdWatchTest, ItCallsBackAsLongAsReadingIsWanted) {
  std::string got;
  FdWatch watch(loop_, near_.get(), [&](bool readable, bool) {
    char c = 0;
    if (readable && ::read(near_.get(), &c, 1) == 1) got += c;
    if (got == "abc") {
      watch.Want(false, false);
      loop_.Post([&] { loop_.Stop(); });
    }
  });
  watch.Want(true, false);
  ASSERT_EQ(::write(far_.get(), "abcd", 4), 4);
  loop_.Run();
  EXPECT_EQ(got, "abc");
}

TEST_F(FdWatchTest, WritingIsReadyAtOnceAndTheWatchMayDieInItsCallback) {
  std::unique_ptr<FdWatch> watch;
  bool wrote = false;
  watch = std::make_unique<FdWatch>(loop_, near_.get(), [&](bool, bool writable) {
    wrote = writable;
    watch.reset();
    loop_.Stop();
  });
  watch->Want(true, true);
  loop_.Run();
  EXPECT_TRUE(wrote);
  EXPECT_EQ(::write(far_.get(), "x", 1), 1) << "the descriptor is not the watch's to close";
}

TEST(PendingTest, TheFirstValueCountsFromWhateverThread) {
  Loop loop;
  const Pending<int> pending(loop);
  std::thread thread([pending] {
    pending.Set(1);
    pending.Set(2);
  });
  auto wait = [](Pending<int> value) -> Async<int> { co_return co_await value; };
  EXPECT_EQ(loop.RunUntilDone(wait(pending)), 1);
  thread.join();
}

TEST(PendingTest, AValueThatIsThereAlreadyNeedsNoWait) {
  Loop loop;
  const Pending<std::string> pending(loop);
  pending.Set("here");
  EXPECT_TRUE(pending.is_set());
  auto wait = [](Pending<std::string> value) -> Async<std::string> { co_return co_await value; };
  EXPECT_EQ(loop.RunUntilDone(wait(pending)), "here");
}

TEST(PendingTest, ATaskThatWaitsDiesWithItsLoopAndLaterValuesFindNobody) {
  auto loop = std::make_unique<Loop>();
  const Pending<int> pending(*loop);
  auto witness = std::make_shared<int>(0);
  auto wait = [](Pending<int> value, std::shared_ptr<int> keep) -> Async<void> {
    co_await value;
    ++*keep;
  };
  loop->Spawn(wait(pending, witness));
  loop->Post([&] { loop->Stop(); });
  loop->Run();
  EXPECT_EQ(witness.use_count(), 2);
  loop.reset();
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(*witness, 0);
}

TEST(SleepTest, ItEndsAfterItsTime) {
  Loop loop;
  EXPECT_TRUE(loop.RunUntilDone(Sleep(loop, milliseconds(1), CancelToken())));
}

TEST(SleepTest, CancellingFromAnotherThreadEndsItAtOnce) {
  Loop loop;
  CancelSource source;
  std::thread thread([&] { source.Cancel(); });
  const Status slept = loop.RunUntilDone(Sleep(loop, std::chrono::hours(1), source.token()));
  thread.join();
  ASSERT_FALSE(slept);
  EXPECT_EQ(slept.error().code, Code::kCancelled);
}

}  // namespace
}  // namespace stet
