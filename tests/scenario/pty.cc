#include "tests/scenario/pty.h"

#include <array>
#include <cerrno>

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

namespace stet::scenario {
namespace {

constexpr std::chrono::seconds kShownWithin{20};

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Pty::Pty(const std::vector<std::string>& argv, const std::string& cwd,
         const std::vector<std::string>& env) {
  winsize size{};
  size.ws_col = kColumns;
  size.ws_row = kRows;
  const std::vector<char*> arguments = Pointers(argv);
  const std::vector<char*> environment = Pointers(env);
  int master = -1;
  pid_ = ::forkpty(&master, nullptr, nullptr, &size);
  if (pid_ == 0) {
    if (::chdir(cwd.c_str()) == 0) ::execve(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
  EXPECT_GT(pid_, 0);
  master_.reset(master);
}

Pty::~Pty() {
  if (ended_ || pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Pty::Type(std::string_view keys) const { EXPECT_TRUE(WriteAll(master_.get(), keys)); }

bool Pty::ReadSome() {
  std::array<char, 65536> buffer;
  const ssize_t got = ::read(master_.get(), buffer.data(), buffer.size());
  closed_ = got <= 0 && errno != EINTR;
  if (got <= 0) return !closed_;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  bytes_ += bytes;
  screen_.Feed(bytes);
  return true;
}

template <class Done>
bool Pty::Await(Done done) {
  const Deadline deadline = Deadline::After(kShownWithin);
  while (!done()) {
    pollfd one{.fd = master_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, deadline.PollTimeout()) == 0 || !ReadSome()) return done();
  }
  return true;
}

void Pty::Drain(std::chrono::milliseconds time) {
  const Deadline deadline = Deadline::After(time);
  while (!deadline.Passed()) {
    pollfd one{.fd = master_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, deadline.PollTimeout()) == 0 || !ReadSome()) return;
  }
}

bool Pty::EndsWithin(std::chrono::milliseconds time) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd one{.fd = process.get(), .events = POLLIN, .revents = 0};
  if (::poll(&one, 1, static_cast<int>(time.count())) != 1) return false;
  ended_ = ::waitpid(pid_, nullptr, 0) == pid_;
  return ended_;
}

bool Pty::Shows(std::string_view text, std::size_t times) {
  const bool shown = Await([&] { return CountOf(screen_.Text(), text) >= times; });
  EXPECT_TRUE(shown) << "no \"" << text << "\" in:\n" << screen_.Text();
  return shown;
}

bool Pty::CursorRowIs(std::string_view row, std::size_t column) {
  const bool is =
      Await([&] { return screen_.CursorRow() == row && screen_.cursor_column() == column; });
  EXPECT_TRUE(is) << "the cursor is in column " << screen_.cursor_column() << " of \""
                  << screen_.CursorRow() << "\" in:\n"
                  << screen_.Text();
  return is;
}

bool Pty::Rests(std::size_t turns) {
  const bool rests = Await([&] {
    const std::string text = screen_.Text();
    return CountOf(text, "Ctrl-C stops") == 0 && CountOf(text, " in, ") >= turns;
  });
  EXPECT_TRUE(rests) << "it does not rest:\n" << screen_.Text();
  return rests;
}

void Pty::SignalForeground(int signal) const {
  const pid_t group = ::tcgetpgrp(master_.get());
  ASSERT_GT(group, 0);
  ::kill(-group, signal);
}

void Pty::Resize(std::size_t columns, std::size_t rows) const {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = static_cast<unsigned short>(rows);
  EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
}

const std::string& Pty::ReadAll() {
  (void)Await([] { return false; });
  EXPECT_TRUE(closed_) << "it does not close the terminal:\n" << screen_.Text();
  return bytes_;
}

int Pty::Exit() {
  int status = 0;
  const bool gone = Await([&] {
    ended_ = ended_ || ::waitpid(pid_, &status, WNOHANG) == pid_;
    return ended_;
  });
  if (!gone) {
    // The terminal was closed before the process ended, or nothing came any more.
    EXPECT_TRUE(closed_) << "it does not end:\n" << screen_.Text();
    if (!closed_) ::kill(pid_, SIGKILL);
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    ended_ = true;
  }
  // What it wrote at last stands in the terminal, though it has ended.
  pollfd rest{.fd = master_.get(), .events = POLLIN, .revents = 0};
  while (!closed_ && ::poll(&rest, 1, 0) > 0 && ReadSome()) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

termios Pty::Modes() const {
  termios modes{};
  EXPECT_EQ(::tcgetattr(master_.get(), &modes), 0);
  return modes;
}

}  // namespace stet::scenario
