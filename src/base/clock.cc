#include "base/clock.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

namespace stet {

namespace {

using std::chrono::milliseconds;

class MachineClock final : public Clock {
 public:
  [[nodiscard]] Millis Now() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::floor<milliseconds>(since_epoch).count();
  }
  [[nodiscard]] std::chrono::steady_clock::time_point Steady() const override {
    return std::chrono::steady_clock::now();
  }
};

}  // namespace

Clock& SystemClock() {
  static MachineClock clock;
  return clock;
}

std::chrono::steady_clock::time_point FakeClock::Steady() const {
  return std::chrono::steady_clock::time_point(milliseconds(steady_ms_));
}

void FakeClock::Advance(milliseconds span) {
  now_ += span.count();
  steady_ms_ += span.count();
}

Deadline Deadline::After(milliseconds span, const Clock& clock) {
  // A century: a longer span could overflow the sum, and no caller waits that long.
  constexpr milliseconds kForever = std::chrono::hours(24 * 365 * 100);
  if (span >= kForever) return Never();
  return Deadline(&clock, clock.Steady() + std::max(span, milliseconds(0)));
}

bool Deadline::Passed() const { return clock_ != nullptr && clock_->Steady() >= at_; }

milliseconds Deadline::Left() const {
  if (clock_ == nullptr) return kMaxLeft;
  const auto left = std::chrono::ceil<milliseconds>(at_ - clock_->Steady());
  return std::clamp(left, milliseconds(0), kMaxLeft);
}

int Deadline::PollTimeout() const {
  return clock_ == nullptr ? -1 : static_cast<int>(Left().count());
}

std::string FormatUtc(Millis time) {
  const auto at = std::chrono::sys_time<milliseconds>(milliseconds(time));
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<milliseconds> clock(at - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string LocalDate(Millis time) {
  const std::time_t seconds = static_cast<std::time_t>(time / 1000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday);
}

}  // namespace stet
