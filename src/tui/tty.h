// Tty: the terminal of an interactive session: its modes, its size, and the signals that come with
// it.
//
// Make it before any other thread exists: it blocks the signals it watches, and the threads made
// after it inherit that. Only one at a time. However the process ends, except by SIGKILL, the
// terminal has the modes again that it had before. A SIGHUP, which says that the terminal is gone,
// ends the process within kLastTime, whatever it is doing then.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <termios.h>

#include "base/fd.h"
#include "base/result.h"

namespace stet::tui {

class Tty {
 public:
  /// Takes keys one by one from now on. Fails when stdin is no terminal.
  static Result<std::unique_ptr<Tty>> Open();
  ~Tty();
  Tty(const Tty&) = delete;
  Tty& operator=(const Tty&) = delete;

  /// The terminal as it was before.
  void Leave();
  /// Takes keys one by one again.
  void Enter();
  /// Leaves and stops the process group, as Ctrl-Z does; enters again when it goes on. That SIGCONT
  /// is not told.
  void Suspend();
  /// Leaves, and lets signals end the process again: for an end that may take its time.
  void Finish();

  static constexpr unsigned kLastTime = 5;  // Seconds.

  /// Either is readable when NextSignal has one.
  [[nodiscard]] int signals() const { return signals_.get(); }
  [[nodiscard]] int hang_up() const { return hang_up_.get(); }
  std::optional<int> NextSignal();
  /// SIGTERM or SIGHUP came: whoever waits for keys leaves.
  [[nodiscard]] bool ending() const { return ending_; }

  /// What was typed; empty when nothing is there, nothing at all once the terminal is gone.
  [[nodiscard]] std::optional<std::string> Read() const;
  /// Ignores errors: a terminal that is gone is noticed when it is read.
  void Write(std::string_view bytes) const;

  struct Size {
    std::size_t columns;
    std::size_t rows;
  };
  [[nodiscard]] Size size() const;

 private:
  explicit Tty(const termios& before) : before_(before) {}

  termios before_;
  bool entered_ = false;
  bool finished_ = false;
  bool ending_ = false;
  Fd signals_;
  Fd hang_up_;  // An eventfd, which the handler of SIGHUP makes readable.
};

}  // namespace stet::tui
