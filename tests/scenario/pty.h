// Pty: a program at a terminal of its own, as a user sees it.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>
#include <termios.h>

#include "base/fd.h"
#include "tui/vt_fixture.h"

namespace stet::scenario {

class Pty {
 public:
  static constexpr std::size_t kColumns = 100;
  static constexpr std::size_t kRows = 40;

  /// Starts `argv` in `cwd` with the environment `env` ("K=V" each).
  Pty(const std::vector<std::string>& argv, const std::string& cwd,
      const std::vector<std::string>& env);
  /// Ends what still runs.
  ~Pty();
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;

  void Type(std::string_view keys) const;
  /// Waits until `text` was shown, so many times. Fails the test, with all that was shown, when
  /// that takes too long.
  [[nodiscard]] bool Shows(std::string_view text, std::size_t times = 1);
  /// The same for the row that the cursor is in.
  [[nodiscard]] bool CursorRowIs(std::string_view row, std::size_t column);
  /// Waits until nothing on the screen says that a turn runs, and so many turns have ended.
  [[nodiscard]] bool Rests(std::size_t turns);
  void Signal(int signal) const { ::kill(pid_, signal); }
  /// Shows what comes within that time.
  void Drain(std::chrono::milliseconds time);
  /// The terminal goes away, as when its window is closed.
  void HangUp() { master_.reset(); }
  /// Whether the program ends within that time, without the terminal being read.
  [[nodiscard]] bool EndsWithin(std::chrono::milliseconds time);
  /// To the terminal's foreground process group.
  void SignalForeground(int signal) const;
  void Resize(std::size_t columns, std::size_t rows) const;
  /// Waits until the program has closed the terminal: all bytes that were sent.
  const std::string& ReadAll();
  /// The exit code; -1 when it ended by a signal or does not end.
  int Exit();
  /// The modes of the terminal.
  [[nodiscard]] termios Modes() const;

  [[nodiscard]] const stet::tui::VtScreen& screen() const { return screen_; }
  /// All bytes that were sent.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  bool ReadSome();
  template <class Done>
  bool Await(Done done);

  Fd master_;
  pid_t pid_ = -1;
  bool ended_ = false;
  bool closed_ = false;  // By the program.
  stet::tui::VtScreen screen_{kColumns, kRows};
  std::string bytes_;
};

}  // namespace stet::scenario
