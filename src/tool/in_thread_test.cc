#include "tool/in_thread.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

TEST(InThreadTest, ATaskThatIsDestroyedCancelsItsThreadAndWaitsForIt) {
  std::atomic<bool> ended = false;
  {
    Loop loop;
    Pending<int> started(loop);
    auto work = [&, started](const CancelToken& cancel) -> Result<int> {
      std::mutex mutex;
      std::condition_variable wake;
      bool stop = false;
      const auto registration = cancel.OnCancel([&] {
        const std::scoped_lock lock(mutex);
        stop = true;
        wake.notify_all();
      });
      started.Set(1);
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stop; });
      ended = true;
      return 1;
    };
    auto run = [](Loop& on, auto body) -> Async<void> {
      co_await InThread<int>(on, CancelToken(), std::move(body));
    };
    auto wait = [](Pending<int> value) -> Async<int> { co_return co_await value; };
    loop.Spawn(run(loop, work));
    EXPECT_EQ(loop.RunUntilDone(wait(started)), 1);
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace stet::tool
