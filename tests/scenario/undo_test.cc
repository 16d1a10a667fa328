// Undo includes the shell: what commands did is taken back through the real program, with a
// scripted model.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "json/json.h"
#include "json/view.h"
#include "json/writer.h"
#include "sandbox/support.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

class UndoTest : public ScriptedTest {
 protected:
  void Put(const std::string& name, std::string_view bytes, mode_t mode = 0644) {
    ASSERT_TRUE(MakeDirs(ParentDir(project_ + "/" + name), 0755));
    ASSERT_TRUE(ReplaceFile(project_ + "/" + name, bytes, Durable::kNo, mode));
  }
  std::string Get(const std::string& name) {
    return ReadFile(project_ + "/" + name).value_or("(none)");
  }

  static std::string CallOf(const std::string& line) {
    std::string text;
    AppendJsonString(text, line);
    return R"({"blocks":[{"call":{"name":"Bash","args":{"command":)" + text + R"(}}}]})";
  }
  /// A model that has the lines run, each in a step of its own.
  void ScriptLines(const std::vector<std::string>& lines) {
    std::string replies;
    for (const std::string& line : lines) replies += CallOf(line) + ",";
    Script(R"({"replies":[)" + replies + R"({"times":0,"blocks":[{"text":"Done."}]}]})");
  }
  Ran Do(const std::vector<std::string>& lines, const std::string& mode = "bypass") {
    ScriptLines(lines);
    Ran ran = Stet({"-p", "--permission-mode", mode, "go"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran;
  }

  std::string Session() {
    const Result<std::vector<DirEntry>> sessions = ListDir(program_.home() + "/sessions");
    EXPECT_TRUE(sessions && sessions->size() == 1);
    return sessions->front().name;
  }
  Ran Undo(std::vector<std::string> more = {"--yes"}) {
    more.insert(more.begin(), {"sessions", "restore-files", Session(), "--to", "start"});
    return program_.Run(std::move(more));
  }

  /// By path: kind, mode and content of all that is there.
  std::map<std::string, std::string> Tree() {
    std::map<std::string, std::string> tree;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(project_)) {
      struct stat facts{};
      EXPECT_EQ(::lstat(entry.path().c_str(), &facts), 0);
      std::string& what = tree[entry.path().string()];
      what = fmt::format("{:o} ", facts.st_mode);
      if (S_ISREG(facts.st_mode)) what += ReadFile(entry.path().string()).value_or("?");
      if (S_ISLNK(facts.st_mode)) what += std::filesystem::read_symlink(entry.path()).string();
    }
    return tree;
  }
};

TEST_F(UndoTest, WhateverCommandsDidIsTakenBackToTheByte) {
  Put("src/a.txt", "alpha\n");
  Put("src/run.sh", "#!/bin/sh\n", 0755);
  Put("data.bin", std::string("\0\xFF\x01", 3));
  ASSERT_EQ(::symlink("nowhere", (project_ + "/dangling").c_str()), 0);
  ASSERT_TRUE(MakeDirs(project_ + "/empty/deep", 0755));
  const auto before = Tree();
  Do({"rm -rf src data.bin && echo x > new && mkdir made",
      "chmod 700 empty; rm dangling; ln -s b c",
      "rmdir empty/deep; mv new empty/; echo y >> empty/new; rm -rf made; echo file > src"});
  EXPECT_NE(Tree(), before);
  const Ran undone = Undo();
  EXPECT_EQ(undone.exit_code, 0) << undone.err << undone.out;
  EXPECT_EQ(Tree(), before) << undone.out << undone.err;
  const Ran again = Undo();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(again.err.contains("is as it was then")) << again.err;
}

TEST_F(UndoTest, ItIsSaidWhoChangedWhatAndNothingIsDoneUnasked) {
  Put("a", "one");
  Put("b", "one");
  Do({"echo two > a; echo two > b"});
  Put("b", "the user's");
  Put("c", "the user's");
  const Ran shown = Undo({"--dry-run"});
  EXPECT_TRUE(shown.out.contains("to put back " + project_ + "/a (by Bash: echo two > a"))
      << shown.out;
  EXPECT_TRUE(shown.out.contains("not only its " + project_ + "/b (by Bash")) << shown.out;
  EXPECT_EQ(Get("a"), "two\n");
  const Ran unasked = Undo({});
  EXPECT_EQ(unasked.exit_code, 1) << "there is no terminal to ask at";
  EXPECT_EQ(Get("a"), "two\n");
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get("a"), "one");
  EXPECT_EQ(Get("b"), "the user's");
  EXPECT_EQ(Get("c"), "the user's");
  EXPECT_EQ(Undo({"--yes", "--all"}).exit_code, 0);
  EXPECT_EQ(Get("b"), "one");
}

TEST_F(UndoTest, PuttingBackIsItselfUndone) {
  Put("a", "one");
  Do({"echo two > a"});
  const std::string log = Log();
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get("a"), "one");
  // To behind the command: the last event of the turn.
  std::string last;
  for (std::size_t at = log.find(R"("role":"assistant")"); at != std::string::npos;
       at = log.find(R"("role":"assistant")", at + 1)) {
    const std::size_t id = log.rfind(R"("id":")", at) + 6;
    last = log.substr(id, log.find('"', id) - id);
  }
  const Ran redone = program_.Run({"sessions", "restore-files", Session(), "--to", last, "--yes"});
  EXPECT_EQ(redone.exit_code, 0) << redone.err << redone.out;
  EXPECT_EQ(Get("a"), "two\n");
}

TEST_F(UndoTest, WhatAKilledProgramsCommandDidIsTakenBackToo) {
  Put("a", "one");
  ScriptLines({"rm a; echo > died; sleep 100"});
  SpawnOptions options =
      program_.Options({"--cwd", project_, "-p", "--permission-mode", "bypass", "go"});
  Result<Subprocess> started = Subprocess::Start(std::move(options));
  ASSERT_TRUE(started);
  while (!Exists(project_ + "/died")) ::usleep(1000);
  ::kill(started->pid(), SIGKILL);
  pollfd gone{.fd = started->pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&gone, 1, 20'000), 1);
  ASSERT_FALSE(Exists(project_ + "/a"));
  const Ran undone = Undo();
  EXPECT_EQ(undone.exit_code, 0) << undone.err << undone.out;
  EXPECT_TRUE(undone.out.contains("(by Bash: rm a")) << undone.out;
  EXPECT_EQ(Get("a"), "one");
  EXPECT_FALSE(Exists(project_ + "/died"));
}

TEST_F(UndoTest, WhatCannotBePutBackIsNotChangedUnasked) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  // More than a checkpoint copies.
  Put("large", "");
  ASSERT_EQ(::truncate((project_ + "/large").c_str(), off_t{300} << 20), 0);
  Put("small", "one");
  Put("go.sh", "rm -f large; echo x > large; echo two > small; true", 0755);
  Do({"bash ./go.sh"}, "auto");
  struct stat facts{};
  ASSERT_EQ(::stat((project_ + "/large").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, off_t{300} << 20);
  EXPECT_EQ(Get("small"), "two\n") << Log();
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get("small"), "one");
}

TEST_F(UndoTest, CopiesAreTheUsersAloneAndInNoExport) {
  Put(".env", "KEY=a-value-of-a-secret-kind");
  Do({"rm .env"});
  const std::string store = program_.home() + "/undo";
  const Result<std::vector<DirEntry>> copies = ListDir(store);
  ASSERT_TRUE(copies);
  bool found = false;
  for (const DirEntry& copy : *copies) {
    const std::string path = store + "/" + copy.name;
    struct stat facts{};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    found = found || ReadFile(path)->contains("a-value-of");
  }
  EXPECT_TRUE(found);
  const std::string tar = dir_.path() + "/out.tar";
  EXPECT_EQ(program_.Run({"sessions", "export", Session(), "--reveal", "-o", tar}).exit_code, 0);
  EXPECT_FALSE(ReadFile(tar)->contains("a-value-of"));
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get(".env"), "KEY=a-value-of-a-secret-kind");
}

TEST_F(UndoTest, WhatGitHadIsKeptWhenALaterCommandDestroysItThere) {
  for (const char* name : {"f1", "f2", "f3"}) Put(name, "AAAA");
  const auto git = [&](const std::string& line) {
    const auto ran = Subprocess::Run({.argv = {"bash", "-c", line}, .cwd = project_},
                                     Deadline::After(std::chrono::seconds(20)), {});
    ASSERT_TRUE(ran && ran->exit_code == 0);
  };
  git("git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm x");
  Do({"sed -i s/AAAA/BBBB/ f1 f2; rm f3", "rm -rf .git/objects"});
  git("rm -rf .git");
  const Ran undone = Undo();
  EXPECT_EQ(undone.exit_code, 0) << undone.err << undone.out;
  for (const char* name : {"f1", "f2", "f3"}) EXPECT_EQ(Get(name), "AAAA") << undone.out;
}

TEST_F(UndoTest, WhatGitTracksIsCoveredWhereverItLies) {
  Put("build/tracked", "one");
  Put("build/made", "one");
  Put(".gitignore", "build/\n");
  const auto ran = Subprocess::Run(
      {.argv = {"bash", "-c", "git init -q . && git add -f build/tracked"}, .cwd = project_},
      Deadline::After(std::chrono::seconds(20)), {});
  ASSERT_TRUE(ran && ran->exit_code == 0);
  Do({"rm -rf build"});
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get("build/tracked"), "one");
}

TEST_F(UndoTest, FoldersThatAFileToolMadeForANewFileGoWithIt) {
  Put("there/a", "one");
  const auto before = Tree();
  Script(R"({"replies":[{"blocks":[{"call":{"name":"Write","args":{"file_path":"there/x/y/new",)"
         R"("content":"n"}}}]},{"times":0,"blocks":[{"text":"Done."}]}]})");
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  EXPECT_EQ(Get("there/x/y/new"), "n");
  const Ran undone = Undo();
  EXPECT_EQ(undone.exit_code, 0) << undone.err << undone.out;
  EXPECT_EQ(Tree(), before) << undone.out;
}

TEST_F(UndoTest, NothingIsWrittenUnderANameThatTheFileDidNotHave) {
  Put("a", "mine");
  const std::string outside = dir_.path() + "/outside";
  ASSERT_TRUE(ReplaceFile(outside, "theirs", Durable::kNo));
  Do({"ln -f " + outside + " a"});
  EXPECT_EQ(Undo({"--all", "--yes"}).exit_code, 0);
  EXPECT_EQ(Get("a"), "mine");
  EXPECT_EQ(ReadFile(outside), "theirs");
}

TEST_F(UndoTest, AFolderThatBecameALinkAndNamesThatAreNoUtf8ComeBack) {
  Put("d/1", "one");
  Put("d/2", "two");
  Put("bad\xff\xfename", "odd");
  const auto before = Tree();
  Do({"mv d e; ln -s e d; rm bad*"});
  const Ran undone = Undo();
  EXPECT_EQ(undone.exit_code, 0) << undone.err << undone.out;
  EXPECT_EQ(Tree(), before) << undone.out;
}

TEST_F(UndoTest, WhatTheUserDidWhileATaskRanIsNotUndoneUnasked) {
  Put("a", "one");
  Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":)"
         R"("while [ ! -e theirs ]; do sleep 0.01; done; sleep 1000","background":true}}}]},)" +
         CallOf("echo mine > theirs; echo two > b") +
         R"(,{"times":0,"blocks":[{"text":"Done."}]}]})");
  EXPECT_EQ(Stet({"-p", "--permission-mode", "bypass", "go"}).exit_code, 0);
  // By then the task has ended with the program; what is new since may be its doing, or not.
  Put("users", "mine");
  const Ran shown = Undo({"--dry-run"});
  EXPECT_FALSE(shown.out.contains("to delete " + project_ + "/users")) << shown.out;
  EXPECT_EQ(Undo().exit_code, 0);
  EXPECT_EQ(Get("users"), "mine");
  EXPECT_FALSE(Exists(project_ + "/b"));
}

TEST_F(UndoTest, CopiesThatNoSessionNeedsAreFoundAndDeletedWhenTheUserSaysSo) {
  Put("a", "one");
  Do({"echo two > a"});
  const std::string store = program_.home() + "/undo";
  const auto count = [&] {
    const Result<std::vector<DirEntry>> there = ListDir(store);
    EXPECT_TRUE(there);
    return std::ranges::count_if(*there, [](const DirEntry& one) { return one.name.size() == 64; });
  };
  const timespec old[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  const Result<std::vector<DirEntry>> copies = ListDir(store);
  ASSERT_TRUE(copies);
  for (const DirEntry& copy : *copies)
    ASSERT_EQ(::utimensat(AT_FDCWD, (store + "/" + copy.name).c_str(), old, 0), 0);
  const auto all = count();
  EXPECT_GT(all, 0);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), all) << "the session has a name for each";
  EXPECT_EQ(program_.Run({"sessions", "rm", Session(), "--yes"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), all) << "it may come back from the trash";
  EXPECT_EQ(program_.Run({"sessions", "gc", "--trash", "--yes"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "gc", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), 0);
}

}  // namespace
}  // namespace stet::scenario
