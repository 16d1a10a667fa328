#include "base/interrupt.h"

#include <csignal>

#include <pthread.h>
#include <unistd.h>

namespace stet {
namespace {

constexpr int kExitInterrupted = 130;
constexpr int kWakeUp = SIGUSR2;  // Our own, to end the watch.

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, kWakeUp);
  return set;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  const sigset_t set = Watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { Watch(); });
}

InterruptWatch::~InterruptWatch() {
  ::pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
  const sigset_t set = Watched();
  // One that came too late to be heard asked for the end that has come.
  const timespec at_once{};
  while (::sigtimedwait(&set, nullptr, &at_once) > 0) {
  }
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void InterruptWatch::Watch() {
  const sigset_t set = Watched();
  bool asked = false;
  while (true) {
    int signal = 0;
    if (::sigwait(&set, &signal) != 0) return;
    if (signal == kWakeUp) return;
    if (asked && signal == SIGINT) ::_exit(kExitInterrupted);
    asked = true;
    source_.Cancel();
  }
}

}  // namespace stet
