#include "base/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"
#include "base/version.h"

namespace stet {
namespace {

class FileLockTest : public testing::Test {
 protected:
  /// Takes the lock without saying who we are, as a holder does for a moment.
  Fd LockInSilence() const {
    Fd fd = OpenFile(path_, O_RDWR | O_CREAT).value();
    struct flock lock{};
    lock.l_type = F_WRLCK;
    EXPECT_EQ(::fcntl(fd.get(), F_OFD_SETLK, &lock), 0);
    return fd;
  }

  TempDir dir_;
  const std::string path_ = dir_.Sub("lock");
  const LockHolder self_{::getpid(), std::string(ProgramVersion())};
};

TEST_F(FileLockTest, TheHolderIsNamedToWhoeverIsRefused) {
  const auto lock = FileLock::Acquire(path_);
  ASSERT_TRUE(lock);
  const auto second = FileLock::Acquire(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), Error(Code::kBusy, fmt::format("{} is held by process {} (stet {})",
                                                           path_, ::getpid(), ProgramVersion())));
  EXPECT_EQ(FileLock::Holder(path_), self_);
}

TEST_F(FileLockTest, IsFreeAgainAfterItsRelease) {
  {
    ASSERT_TRUE(FileLock::Acquire(path_));
  }
  EXPECT_EQ(FileLock::Holder(path_), std::nullopt);
  EXPECT_EQ(ReadFile(path_), "");
  EXPECT_TRUE(FileLock::Acquire(path_));
}

TEST_F(FileLockTest, NobodyHoldsAFileThatIsNotThere) {
  EXPECT_EQ(FileLock::Holder(path_), std::nullopt);
  EXPECT_FALSE(Exists(path_));
}

TEST_F(FileLockTest, TheFileIsPrivate) {
  const auto lock = FileLock::Acquire(path_);
  EXPECT_EQ(StatFile(path_).value().mode, 0600u);
}

TEST_F(FileLockTest, MovesWithItsObject) {
  auto first = FileLock::Acquire(path_).value();
  auto other = FileLock::Acquire(dir_.Sub("other")).value();
  other = std::move(first);
  EXPECT_EQ(FileLock::Holder(path_), self_);
  EXPECT_EQ(FileLock::Holder(dir_.Sub("other")), std::nullopt);
}

TEST_F(FileLockTest, AHolderThatHasNotSaidItsNameIsAnotherProcess) {
  const Fd fd = LockInSilence();
  const auto refused = FileLock::Acquire(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Error(Code::kBusy, path_ + " is held by another process"));
  EXPECT_EQ(FileLock::Holder(path_), LockHolder());
}

TEST_F(FileLockTest, TheNameOfADeadHolderIsNotGivenForItsSuccessor) {
  // Our own pid, but of a process that started at another time.
  ASSERT_TRUE(ReplaceFile(path_, fmt::format("{} 1 0.0.1\n", ::getpid()), Durable::kNo));
  const Fd fd = LockInSilence();
  EXPECT_EQ(FileLock::Holder(path_), LockHolder());
}

TEST_F(FileLockTest, WhatADeadHolderLeftDoesNotHinder) {
  ASSERT_TRUE(ReplaceFile(path_, "a line that is much longer than ours ever is\n", Durable::kNo));
  const auto lock = FileLock::Acquire(path_);
  ASSERT_TRUE(lock);
  EXPECT_EQ(FileLock::Holder(path_), self_);
}

TEST_F(FileLockTest, AChildThatADeadHolderLeftOnTheWayToItsExecIsWaitedFor) {
  ASSERT_TRUE(ReplaceFile(path_, fmt::format("{} 1 0.0.1\n", ::getpid()), Durable::kNo));
  Fd fd = LockInSilence();
  const pid_t child = ::fork();
  if (child == 0) {
    ::poll(nullptr, 0, 3 * static_cast<int>(FileLock::kNameWait.count()));
    ::_exit(0);  // As an exec would, this lets go.
  }
  fd.reset();
  EXPECT_TRUE(FileLock::Acquire(path_));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(FileLockTest, AChildProgramDoesNotKeepTheLock) {
  auto lock = std::make_unique<FileLock>(FileLock::Acquire(path_).value());
  const auto child = Subprocess::Start({.argv = {"cat"}, .stdin_from = StdinFrom::kPipe});
  ASSERT_TRUE(child);
  lock.reset();
  EXPECT_TRUE(FileLock::Acquire(path_));
}

TEST_F(FileLockTest, AnotherProcessIsNamedAndItsDeathFreesTheLock) {
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const Fd read_end(ready[0]);
  Fd write_end(ready[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::Acquire(path_);
    if (!lock || !WriteAll(write_end.get(), "x")) ::_exit(1);
    for (;;) ::pause();
  }
  write_end.reset();
  char byte = 0;
  ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
  EXPECT_EQ(FileLock::Holder(path_), (LockHolder{child, std::string(ProgramVersion())}));

  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(FileLock::Holder(path_), std::nullopt);
  EXPECT_TRUE(FileLock::Acquire(path_));
}

TEST_F(FileLockTest, AMissingFolderIsNotFound) {
  EXPECT_EQ(FileLock::Acquire(dir_.Sub("none/lock")).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace stet
