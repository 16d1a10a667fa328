// A folder that is exchanged for a link to the outside, again and again, while tools work in it.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/scale.h"
#include "tool/checkpoint/keeping.h"
#include "tool/checkpoint/put_back.h"
#include "tool/tool_fixture.h"

namespace stet::tool {
namespace {

/// The two change places until `work` was done often enough, and has met the folder, not the link,
/// at least once: it says whether it did.
void WhileExchanging(const std::string& one, const std::string& other,
                     const std::function<bool(std::size_t)>& work) {
  const std::size_t least = TestScale().exchanges;
  std::atomic<bool> done = false;
  std::atomic<std::size_t> exchanges = 0;
  std::jthread exchanging([&] {
    while (!done) {
      if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0)
        ++exchanges;
    }
  });
  bool met = false;
  const std::size_t most = least * 100;
  for (std::size_t round = 0; (exchanges < least || round < least / 5 || !met) && round < most;
       ++round) {
    met = work(round) || met;
    if (testing::Test::HasFailure()) break;
  }
  done = true;
  EXPECT_TRUE(met);
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

  void Exchanging(const std::function<bool(std::size_t)>& work) {
    WhileExchanging(Path("a"), Path("b"), work);
  }

  /// Whatever is outside is as it was, and nothing came to it.
  void ExpectNoEscape(std::size_t round) {
    EXPECT_EQ(ReadFile(temp_.Sub("outside/f.txt")).value_or("gone"), "theirs\n") << round;
    EXPECT_EQ(ListDir(temp_.Sub("outside"))->size(), 1U) << round;
  }
};

TEST_F(RaceTest, NoWriteAndNoEditEscapesThroughAFolderThatBecomesALink) {
  const Fd folder(::open(Path("a").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string inside = fmt::format("/proc/self/fd/{}/f.txt", folder.get());
  const Raw file = Strings({{"file_path", Path("a/f.txt")}});
  Exchanging([&](std::size_t round) {
    // The same in both, so that nothing but the path tells them apart.
    EXPECT_TRUE(ReplaceFile(inside, "theirs\n", Durable::kNo));
    const std::string name = Path(fmt::format("a/n{}/new.txt", round % 7));
    const Raw fresh = Strings({{"file_path", name}, {"content", "new\n"}});
    bool met = !RunDecided("Write", fresh, name).is_error;
    RunDecided("Read", file, Path("a/f.txt"));
    const Raw edit = Strings(
        {{"file_path", Path("a/f.txt")}, {"old_string", "theirs"}, {"new_string", "edited"}});
    met = !RunDecided("Edit", edit, Path("a/f.txt")).is_error || met;
    EXPECT_TRUE(ReplaceFile(inside, "theirs\n", Durable::kNo));
    RunDecided("Read", file, Path("a/f.txt"));
    const Raw whole = Strings({{"file_path", Path("a/f.txt")}, {"content", "whole\n"}});
    met = !RunDecided("Write", whole, Path("a/f.txt")).is_error || met;
    ExpectNoEscape(round);
    return met;
  });
}

TEST_F(RaceTest, NoReadShowsWhatALinkLedTo) {
  Exchanging([&](std::size_t round) {
    const std::string text =
        TextOf(RunDecided("Read", Strings({{"file_path", Path("a/f.txt")}}), Path("a/f.txt")));
    EXPECT_EQ(text.find("theirs"), std::string::npos) << round;
    return text.find("ours") != std::string::npos;
  });
}

TEST_F(RaceTest, NothingIsPutBackThroughAFolderThatBecomesALink) {
  const std::string project = temp_.Sub("undone");
  const std::string outside = temp_.Sub("elsewhere");
  for (const std::string& folder : {project + "/a", outside}) {
    ASSERT_TRUE(MakeDirs(folder));
    for (const char* name : {"/old.txt", "/new.txt"})
      ASSERT_TRUE(ReplaceFile(folder + name, "left", Durable::kNo));
  }
  ASSERT_EQ(::symlink(outside.c_str(), (project + "/b").c_str()), 0);
  const Fd folder(::open((project + "/a").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  WhileExchanging(project + "/a", project + "/b", [&](std::size_t round) {
    PutBackWish wish{.project = project, .content = [](const Kept&) { return "before"; }};
    for (const char* name : {"old.txt", "new.txt"}) {
      const std::string held = fmt::format("/proc/self/fd/{}", folder.get());
      EXPECT_TRUE(ReplaceFile(held + "/" + name, "left", Durable::kNo));
      UndoLine& line = wish.lines.emplace_back();
      line.path = std::string("a/") + name;
      // Just as it is there, so that nothing else keeps it from being put back.
      line.now = EntryNow(held, name).value();
    }
    wish.lines[0].wanted = wish.lines[0].now;
    wish.lines[0].wanted->kept = {.in = Kept::In::kCopies, .id = Sha256Hex("before")};
    const std::vector<PutBackLine> done = PutBack(wish);
    for (const char* name : {"/old.txt", "/new.txt"})
      EXPECT_EQ(ReadFile(outside + name).value_or("gone"), "left") << round;
    EXPECT_EQ(ListDir(outside)->size(), 2U) << round;
    return std::ranges::any_of(done, &PutBackLine::restored);
  });
}

}  // namespace
}  // namespace stet::tool
