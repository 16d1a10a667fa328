// A folder that is exchanged for a link to the outside, again and again, while tools work in it.
#include <atomic>
#include <cstdio>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lane/restore.h"
#include "log/log_fixture.h"
#include "tests/scale.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

/// The two change places until `work` was done often enough.
void WhileExchanging(const std::string& one, const std::string& other,
                     const std::function<void(std::size_t)>& work) {
  const std::size_t least = TestScale().exchanges;
  std::atomic<bool> done = false;
  std::atomic<std::size_t> exchanges = 0;
  std::jthread exchanging([&] {
    while (!done) {
      if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
        ++exchanges;
    }
  });
  for (std::size_t round = 0; exchanges < least || round < least / 5; ++round) {
    work(round);
    if (testing::Test::HasFatalFailure()) break;
  }
  done = true;
}

class RaceTest : public ToolTest {
 protected:
  RaceTest() {
    Put("a/f.txt", "ours\n");
    EXPECT_TRUE(MakeDirs(temp_.Sub("outside")));
    EXPECT_TRUE(ReplaceFile(temp_.Sub("outside/f.txt"), "theirs\n", Durable::kNo));
    EXPECT_EQ(::symlink(temp_.Sub("outside").c_str(), Path("b").c_str()), 0);
  }

  /// Runs the tool as policy has allowed it for the real path, and nothing else.
  Outcome RunDecided(std::string_view name, const Raw& args, const std::string& path) {
    const Intent decided{.reads = {path}, .writes = {path}};
    decided_ = &decided;
    Outcome outcome = Run(name, args);
    decided_ = nullptr;
    return outcome;
  }

  void Exchanging(const std::function<void(std::size_t)>& work) {
    WhileExchanging(Path("a"), Path("b"), work);
  }

  /// Whatever is outside is as it was, and nothing came to it.
  void ExpectNoEscape(std::size_t round) {
    ASSERT_EQ(ReadFile(temp_.Sub("outside/f.txt")).value_or("gone"), "theirs\n") << round;
    ASSERT_EQ(ListDir(temp_.Sub("outside"))->size(), 1U) << round;
  }
};

TEST_F(RaceTest, NoWriteAndNoEditEscapesThroughAFolderThatBecomesALink) {
  std::size_t written = 0;
  Exchanging([&](std::size_t round) {
    const std::string text = std::to_string(round) + "\n";
    const Raw fresh = Strings(
        {{"file_path", Path("a/n" + std::to_string(round % 7) + "/new.txt")}, {"content", text}});
    RunDecided("Write", fresh, Path("a/n" + std::to_string(round % 7) + "/new.txt"));
    RunDecided("Read", Strings({{"file_path", Path("a/f.txt")}}), Path("a/f.txt"));
    const Raw whole = Strings({{"file_path", Path("a/f.txt")}, {"content", text}});
    written += RunDecided("Write", whole, Path("a/f.txt")).is_error ? 0 : 1;
    const Raw edit = Strings(
        {{"file_path", Path("a/f.txt")}, {"old_string", text}, {"new_string", "edited " + text}});
    written += RunDecided("Edit", edit, Path("a/f.txt")).is_error ? 0 : 1;
    ExpectNoEscape(round);
  });
  EXPECT_GT(written, 0U) << "some of them met the folder";
}

TEST_F(RaceTest, NoReadShowsWhatALinkLedTo) {
  Exchanging([&](std::size_t round) {
    const Outcome outcome =
        RunDecided("Read", Strings({{"file_path", Path("a/f.txt")}}), Path("a/f.txt"));
    ASSERT_EQ(TextOf(outcome).find("theirs"), std::string::npos) << round;
  });
}

class RestoreRaceTest : public log::LogTest {
 protected:
  void Fact(log::Log& log, const std::string& path, protocol::OptionalText before,
            const std::string& after) {
    protocol::FileFact fact{.op = "write", .path = path, .before = before, .after = after};
    fact.before_blob = before;
    Append(log, {.payload = std::move(fact)});
  }

  TempDir files_;
};

TEST_F(RestoreRaceTest, NoRestoreEscapesThroughAFolderThatBecomesALink) {
  const std::string project = files_.Sub("project");
  const std::string outside = files_.Sub("outside");
  for (const std::string& folder : {project + "/a", outside}) {
    ASSERT_TRUE(MakeDirs(folder));
    // Just as the session left them, so that nothing else keeps them from being put back.
    for (const char* name : {"/old.txt", "/new.txt"})
      ASSERT_TRUE(ReplaceFile(folder + name, "left", Durable::kNo));
  }
  ASSERT_EQ(::symlink(outside.c_str(), (project + "/b").c_str()), 0);
  const Fd folder(::open((project + "/a").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto log = Create();
  ASSERT_TRUE(log->blobs().Put("before"));
  std::size_t restored = 0;
  WhileExchanging(project + "/a", project + "/b", [&](std::size_t round) {
    for (const char* name : {"old.txt", "new.txt"})
      ASSERT_TRUE(ReplaceFile(fmt::format("/proc/self/fd/{}/{}", folder.get(), name), "left",
                              Durable::kNo));
    Fact(*log, project + "/a/old.txt", Sha256Hex("before"), Sha256Hex("left"));
    Fact(*log, project + "/a/new.txt", std::nullopt, Sha256Hex("left"));
    const auto rows = lane::FilesSince(*log, {.roots = {project}}, std::nullopt, true);
    for (const protocol::FileRow& row : rows.value_or(protocol::FileRows()))
      restored += row.restored ? 1 : 0;
    for (const char* name : {"/old.txt", "/new.txt"})
      ASSERT_EQ(ReadFile(outside + name).value_or("gone"), "left") << round;
    ASSERT_EQ(ListDir(outside)->size(), 2U) << round;
  });
  EXPECT_GT(restored, 0U) << "some of them met the folder";
}

}  // namespace
}  // namespace stet::tool
