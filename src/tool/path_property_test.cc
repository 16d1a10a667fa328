// Tricks with paths: every file tool refuses them, or says truly where they lead before anything is
// done. Nothing hangs.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/paths.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

/// Ends the process when a test takes longer than any file can.
class Watchdog {
 private:
  static constexpr std::chrono::seconds kPatience{60};

  std::mutex mutex_;
  std::condition_variable_any never_;
  // Stops waiting when it is destroyed.
  std::jthread thread_{[this](const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    never_.wait_for(lock, stop, kPatience, [] { return false; });
    if (stop.stop_requested()) return;
    std::fputs("a tool hangs\n", stderr);
    std::abort();
  }};
};

class PathPropertyTest : public ToolTest {
 protected:
  PathPropertyTest() {
    Put("a.txt", "TOKEN\n");
    EXPECT_TRUE(ReplaceFile(temp_.Sub("secret"), "TOKEN\n", Durable::kNo));
  }

  void Link(const std::string& target, std::string_view name) {
    ASSERT_EQ(::symlink(target.c_str(), Path(name).c_str()), 0);
  }

  static Raw ArgsFor(std::string_view tool, const std::string& path) {
    if (tool == "Read") return Strings({{"file_path", path}});
    if (tool == "Write") return Strings({{"file_path", path}, {"content", "new"}});
    if (tool == "Edit")
      return Strings({{"file_path", path}, {"old_string", "TOKEN"}, {"new_string", "new"}});
    return Strings({{"path", path}, {"pattern", "TOKEN"}});
  }

  Watchdog watchdog_;
};

TEST_F(PathPropertyTest, WhatIsNoFileOfTheUsersIsRefusedByEveryTool) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0666), 0);
  ASSERT_EQ(::mknod(Path("socket").c_str(), S_IFSOCK | 0666, 0), 0);
  Link("/proc/self/cwd", "cwd");
  Link("/proc/self/root", "root");
  Link("/dev/stdin", "stdin");
  Link("/dev/zero", "zero");
  Link("fifo", "to_fifo");
  Link("loop_b", "loop_a");
  Link("loop_a", "loop_b");
  const std::string far = "/etc/passwd";
  const std::vector<std::string> tricks = {"fifo",
                                           "socket",
                                           "to_fifo",
                                           "stdin",
                                           "zero",
                                           "loop_a",
                                           "cwd/a.txt",
                                           "root" + far,
                                           "/dev/stdin",
                                           "/dev/fd/0",
                                           "/dev/zero",
                                           "/dev/tty",
                                           "/proc/self/cwd/a.txt",
                                           "/proc/self/root" + far,
                                           "/proc/1/root" + far,
                                           "/proc/thread-self/fd/0",
                                           "/proc/self/fd/../cwd/a.txt",
                                           "/sys/kernel/notes",
                                           "/tmp/../proc/self/environ",
                                           "//proc/self/environ",
                                           "/./proc//self/environ",
                                           "~",
                                           "~/a.txt",
                                           "~root/x",
                                           "",
                                           std::string("a.txt\0b", 7),
                                           std::string(300, 'n'),
                                           std::string(5000, 'n'),
                                           "a.txt/x",
                                           "."};
  for (const std::string& trick : tricks) {
    for (const char* tool : {"Read", "Edit", "Write"}) {
      EXPECT_TRUE(Run(tool, ArgsFor(tool, trick)).is_error) << tool << " " << trick;
    }
    // They search in the folder that they are given; these are none, and none may hang.
    if (trick == "." || trick.empty()) continue;
    for (const char* tool : {"Glob", "Grep"}) {
      const Outcome outcome = Run(tool, ArgsFor(tool, trick));
      EXPECT_TRUE(outcome.is_error || !TextOf(outcome).contains("a.txt")) << tool << " " << trick;
    }
  }
  EXPECT_TRUE(written_.empty());
  EXPECT_EQ(Get("a.txt"), "TOKEN\n");
}

TEST_F(PathPropertyTest, WhatLeadsOutOfTheProjectIsSaidToDoSoBeforeItIsDone) {
  ASSERT_TRUE(MakeDirs(temp_.Sub("out/deep")));
  Link(temp_.Sub("secret"), "link");
  Link("../secret", "relative");
  Link(temp_.Sub("out"), "folder");
  Link(temp_.Sub("none"), "dangling");
  Link("link", "twice");
  const std::vector<std::pair<std::string, std::string>> tricks = {
      {"link", "secret"},
      {"relative", "secret"},
      {"twice", "secret"},
      {"../secret", "secret"},
      {"./x/../../secret", "secret"},
      {"folder/../secret", "secret"},
      {"folder/deep/../../secret", "secret"},
      {"folder/new", "out/new"},
      {"dangling", "none"},
      {temp_.Sub("project/../secret"), "secret"}};
  for (const auto& [trick, leads_to] : tricks) {
    for (const char* tool : {"Read", "Edit", "Write"}) {
      const auto intent = registry_.Find(tool)->Intend(ArgsFor(tool, trick), workspace_);
      ASSERT_TRUE(intent) << intent.error().Text();
      const std::vector<std::string>& paths = *tool == 'R' ? intent->reads : intent->writes;
      EXPECT_EQ(paths, std::vector<std::string>{temp_.Sub(leads_to)}) << tool << " " << trick;
      EXPECT_FALSE(IsInside(paths.at(0), workspace_.project));
    }
  }
}

TEST_F(PathPropertyTest, AFileThatBecomesAFifoOrADeviceNeverHangsAnybody) {
  for (const char* tool : {"Read", "Edit", "Write", "Grep"}) {
    Put("b", "TOKEN\n");
    Read("b");
    ASSERT_EQ(::unlink(Path("b").c_str()), 0);
    ASSERT_EQ(::mkfifo(Path("b").c_str(), 0666), 0);
    EXPECT_TRUE(Run(tool, ArgsFor(tool, "b")).is_error) << tool;
    struct stat found{};
    ASSERT_EQ(::lstat(Path("b").c_str(), &found), 0);
    EXPECT_TRUE(S_ISFIFO(found.st_mode)) << tool << " replaced it";
    ASSERT_EQ(::unlink(Path("b").c_str()), 0);
  }
  ASSERT_EQ(::mkfifo(Path("f").c_str(), 0666), 0);
  EXPECT_NE(TextOf(Run("Grep", ArgsFor("Grep", "."))).find("a.txt"), std::string::npos)
      << "a search passes over them";
}

}  // namespace
}  // namespace stet::tool
