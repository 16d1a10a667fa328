#include "acp/worker.h"

#include <utility>

namespace stet::acp {

Worker::Worker(std::function<void(client::News&)> hear)
    : hear_(std::move(hear)), thread_([this] { Run(); }) {}

Worker::~Worker() {
  End();
  Join();
}

bool Worker::Post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || jobs_.size() >= kMaxJobs) return false;
    jobs_.push_back(std::move(job));
  }
  inbox_.Poke();
  return true;
}

bool Worker::PostFirst(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    jobs_.push_front(std::move(job));
  }
  inbox_.Poke();
  return true;
}

void Worker::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  inbox_.Poke();
}

bool Worker::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void Worker::Join() {
  if (thread_.joinable()) thread_.join();
}

std::optional<Worker::Job> Worker::Next(bool& alive) {
  const std::lock_guard lock(mutex_);
  alive = !ended_;
  if (jobs_.empty()) return std::nullopt;
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
}

void Worker::Run() {
  while (true) {
    bool alive = true;
    while (const std::optional<Job> job = Next(alive)) (*job)(alive);
    if (!alive) return;
    if (std::optional<client::News> news = inbox_.Wait()) hear_(*news);
  }
}

}  // namespace stet::acp
