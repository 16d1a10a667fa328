#include "base/cancel.h"

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(Cancel, ADefaultTokenNeverCancels) {
  const CancelToken token;
  EXPECT_FALSE(token.cancelled());
  EXPECT_FALSE(token.can_cancel());
  const auto registration = token.OnCancel([] { FAIL(); });
}

TEST(Cancel, EveryCopyOfATokenNotices) {
  CancelSource source;
  const CancelToken token = source.token();
  const CancelToken copy = token;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_FALSE(copy.cancelled());
  source.Cancel();
  EXPECT_TRUE(token.cancelled());
  EXPECT_TRUE(copy.cancelled());
  EXPECT_TRUE(source.cancelled());
}

TEST(Cancel, CallbacksRunOnceInTheOrderOfRegistration) {
  CancelSource source;
  std::string order;
  const auto first = source.token().OnCancel([&] { order += 'a'; });
  const auto second = source.token().OnCancel([&] { order += 'b'; });
  source.Cancel();
  source.Cancel();
  EXPECT_EQ(order, "ab");
}

TEST(Cancel, ACallbackRunsAtOnceWhenAlreadyCancelled) {
  CancelSource source;
  source.Cancel();
  bool ran = false;
  const auto registration = source.token().OnCancel([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(Cancel, ADestroyedRegistrationIsNotCalled) {
  CancelSource source;
  source.token().OnCancel([] { FAIL(); }).reset();
  auto moved = source.token().OnCancel([] { FAIL(); });
  moved = CancelRegistration();
  source.Cancel();
}

TEST(Cancel, AMovedRegistrationStaysRegistered) {
  CancelSource source;
  int runs = 0;
  CancelRegistration outer;
  {
    auto inner = source.token().OnCancel([&] { ++runs; });
    outer = std::move(inner);
  }
  source.Cancel();
  EXPECT_EQ(runs, 1);
}

TEST(Cancel, ATokenOutlivesItsSource) {
  auto source = std::make_unique<CancelSource>();
  const CancelToken token = source->token();
  source.reset();
  EXPECT_FALSE(token.cancelled());
  const auto registration = token.OnCancel([] { FAIL(); });
}

TEST(Cancel, ACallbackMayDestroyItsOwnRegistration) {
  CancelSource source;
  std::optional<CancelRegistration> registration;
  bool ran = false;
  registration = source.token().OnCancel([&] {
    registration.reset();
    ran = true;
  });
  source.Cancel();
  EXPECT_TRUE(ran);
}

TEST(Cancel, ACallbackMayDestroyTheSourceAndOtherRegistrations) {
  auto source = std::make_unique<CancelSource>();
  std::optional<CancelRegistration> later;
  const auto first = source->token().OnCancel([&] {
    later.reset();
    source.reset();
  });
  later = source->token().OnCancel([] { FAIL(); });
  source->Cancel();
  EXPECT_EQ(source, nullptr);
}

TEST(Cancel, ACallbackMayRegisterAnother) {
  CancelSource source;
  bool ran = false;
  const auto registration = source.token().OnCancel([&] {
    const auto inner = source.token().OnCancel([&] { ran = true; });
    EXPECT_TRUE(ran);
  });
  source.Cancel();
  EXPECT_TRUE(ran);
}

TEST(Cancel, AChildIsCancelledWithItsParentButNotTheOtherWayRound) {
  CancelSource parent;
  CancelSource child(parent.token());
  CancelSource sibling(parent.token());
  child.Cancel();
  EXPECT_TRUE(child.cancelled());
  EXPECT_FALSE(parent.cancelled());
  EXPECT_FALSE(sibling.cancelled());
  parent.Cancel();
  EXPECT_TRUE(sibling.cancelled());
}

TEST(Cancel, AChildOfACancelledParentIsBornCancelled) {
  CancelSource parent;
  parent.Cancel();
  EXPECT_TRUE(CancelSource(parent.token()).cancelled());
}

TEST(Cancel, AGrandchildsTokenHearsTheRootAfterTheSourcesAreGone) {
  CancelSource root;
  const CancelToken token = CancelSource(CancelSource(root.token()).token()).token();
  int runs = 0;
  const auto registration = token.OnCancel([&] { ++runs; });
  root.Cancel();
  EXPECT_EQ(runs, 1);
}

TEST(Cancel, DestroyingARegistrationWaitsForItsCallbackInAnotherThread) {
  CancelSource source;
  std::latch started(1);
  std::latch destroying(1);
  std::atomic<bool> finished = false;
  std::optional<CancelRegistration> registration = source.token().OnCancel([&] {
    started.count_down();
    destroying.wait();
    finished = true;
  });
  std::thread canceller([&] { source.Cancel(); });
  started.wait();
  destroying.count_down();
  registration.reset();
  EXPECT_TRUE(finished);
  canceller.join();
}

TEST(Cancel, ManyThreadsMayRegisterWhileOneCancels) {
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  CancelSource source;
  std::atomic<int> runs = 0;
  std::latch half(kThreads);
  std::latch done(kThreads + 1);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      std::vector<CancelRegistration> kept;
      for (int j = 0; j < kEach; ++j) {
        if (j == kEach / 2) half.count_down();
        kept.push_back(source.token().OnCancel([&] { ++runs; }));
        source.token().OnCancel([] {}).reset();
      }
      done.arrive_and_wait();  // Until Cancel has returned every registration stays.
    });
  half.wait();
  source.Cancel();
  done.count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, kThreads * kEach);
}

TEST(Cancel, ChildrenMayComeAndGoWhileTheParentCancels) {
  CancelSource parent;
  std::latch started(1);
  std::thread thread([&] {
    for (int i = 0; i < 1000 && !parent.cancelled(); ++i) {
      CancelSource child(parent.token());
      const auto registration = child.token().OnCancel([] {});
      if (i == 10) started.count_down();
    }
  });
  started.wait();
  parent.Cancel();
  thread.join();
  EXPECT_TRUE(parent.cancelled());
}

}  // namespace
}  // namespace stet
