#include "acp/worker.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace stet::acp {
namespace {

TEST(WorkerTest, JobsRunInOrderAndNewsBetweenThem) {
  std::vector<std::string> done;
  std::promise<void> heard;
  Worker worker([&](client::News& news) {
    done.push_back(std::to_string(std::get<protocol::Event>(news).seq));
    heard.set_value();
  });
  EXPECT_TRUE(worker.Post([&](bool) { done.emplace_back("a"); }));
  EXPECT_TRUE(worker.Post([&](bool) { done.emplace_back("b"); }));
  std::promise<void> passed;
  worker.Post([&](bool) { passed.set_value(); });
  passed.get_future().wait();
  protocol::Event event;
  event.seq = 7;
  worker.inbox().Watcher()(&event, nullptr);
  heard.get_future().wait();
  worker.End();
  worker.Join();
  EXPECT_EQ(done, (std::vector<std::string>{"a", "b", "7"}));
}

TEST(WorkerTest, WhatWaitsWhenItEndsIsToldSoAndNothingMoreIsTaken) {
  std::vector<bool> alive;
  Worker worker([](client::News&) {});
  std::promise<void> go;
  worker.Post([&](bool) {
    go.get_future().wait();
    worker.End();
  });
  worker.Post([&](bool is) { alive.push_back(is); });
  go.set_value();
  worker.Join();
  EXPECT_EQ(alive, std::vector<bool>{false});
  EXPECT_TRUE(worker.ended());
  EXPECT_FALSE(worker.Post([](bool) {}));
}

TEST(WorkerTest, JobsThatWaitAreBounded) {
  std::promise<void> go;
  std::atomic<std::size_t> ran = 0;
  std::promise<void> begun;
  Worker worker([](client::News&) {});
  worker.Post([&](bool) {
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  for (std::size_t i = 0; i < Worker::kMaxJobs; ++i) ASSERT_TRUE(worker.Post([&](bool) { ++ran; }));
  EXPECT_FALSE(worker.Post([&](bool) { ++ran; }));
  std::promise<void> last;
  EXPECT_TRUE(worker.PostFirst([&](bool) { EXPECT_EQ(ran, 0U) << "it comes first"; }));
  go.set_value();
  while (!worker.Post([&](bool) { last.set_value(); })) std::this_thread::yield();
  last.get_future().wait();
  EXPECT_EQ(ran, Worker::kMaxJobs);
}

}  // namespace
}  // namespace stet::acp
