// Clock: the only source of time, and Deadline, the only way to say how long a wait may last.
//
// Wall time is for records and people, steady time for waiting; nothing outside this file asks the
// system for either. Clocks are shared by reference and safe from any thread. A Deadline is a value
// that points at its clock, which must outlive it. Nothing here fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace stet {

/// Unix time in milliseconds.
using Millis = std::int64_t;

class Clock {
 public:
  virtual ~Clock() = default;

  /// Wall time; it may jump in either direction.
  [[nodiscard]] virtual Millis Now() const = 0;

  /// Never goes back; not comparable between processes.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point Steady() const = 0;
};

/// The machine's clock; lives as long as the process.
Clock& SystemClock();

/// A clock that moves only when a test says so. Safe to move while other threads read it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Millis now = 1'700'000'000'000) : now_(now) {}

  [[nodiscard]] Millis Now() const override { return now_; }
  [[nodiscard]] std::chrono::steady_clock::time_point Steady() const override;

  /// Sets wall time alone, as a user or NTP does.
  void Set(Millis now) { now_ = now; }

  /// Moves wall and steady time forward together.
  void Advance(std::chrono::milliseconds span);

 private:
  std::atomic<Millis> now_;
  std::atomic<std::int64_t> steady_ms_ = 1'000'000;
};

/// The moment after which a wait gives up.
class Deadline {
 public:
  /// What Left() says at most; a longer wait wakes up once in that time and asks again.
  static constexpr std::chrono::milliseconds kMaxLeft = std::chrono::hours(24);

  static Deadline Never() { return Deadline(nullptr, {}); }

  /// A negative span has passed already; one too long to represent never passes.
  static Deadline After(std::chrono::milliseconds span, const Clock& clock = SystemClock());

  [[nodiscard]] bool Passed() const;

  /// From 0 to kMaxLeft, rounded up: it is 0 exactly when the deadline has passed.
  [[nodiscard]] std::chrono::milliseconds Left() const;

  /// Left() as poll(2) takes it: -1 for never.
  [[nodiscard]] int PollTimeout() const;

 private:
  Deadline(const Clock* clock, std::chrono::steady_clock::time_point at) : clock_(clock), at_(at) {}

  const Clock* clock_;  // Null: never.
  std::chrono::steady_clock::time_point at_;
};

/// "2026-01-31T23:59:59.123Z".
std::string FormatUtc(Millis time);
/// "2026-11-15", in local time.
std::string LocalDate(Millis time);

}  // namespace stet
