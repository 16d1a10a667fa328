#include "tool/project/view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/random.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using Paths = std::vector<std::string>;

/// Files that are new or others, and those that are gone.
Paths WrittenIn(const std::vector<ScanChange>& changes) {
  Paths paths;
  for (const ScanChange& change : changes)
    if (change.file_after != nullptr) paths.push_back(change.path);
  return paths;
}
Paths DeletedIn(const std::vector<ScanChange>& changes) {
  Paths paths;
  for (const ScanChange& change : changes)
    if (change.file_before != nullptr && change.file_after == nullptr) paths.push_back(change.path);
  return paths;
}

class ProjectViewTest : public testing::Test {
 protected:
  void Put(const std::string& name, std::string_view bytes) {
    ASSERT_TRUE(MakeDirs(ParentDir(temp_.Sub(name))));
    ASSERT_TRUE(ReplaceFile(temp_.Sub(name), bytes, Durable::kNo));
  }
  ProjectView::Scan Look() { return view_.Look({}).value(); }

  TempDir temp_;
  ProjectView view_{temp_.path(), {".git"}, {"out", "a"}};
};

TEST_F(ProjectViewTest, WhileNothingChangesNothingIsLookedAt) {
  Put("a/b", "x");
  EXPECT_EQ(view_.Unchanged(), nullptr) << "it was not looked at yet";
  const ProjectView::Scan first = Look();
  ASSERT_TRUE(view_.is_watched());
  EXPECT_EQ(view_.Unchanged(), first);
  EXPECT_EQ(Look(), first);
  Put("a/b", "y");
  EXPECT_EQ(view_.Unchanged(), nullptr);
  EXPECT_EQ(view_.Unchanged(), nullptr) << "a change is not forgotten before it was looked at";
  EXPECT_EQ(WrittenIn(CompareScans(*first, *Look())), Paths{"a/b"});
}

TEST_F(ProjectViewTest, FoldersInWhichNothingChangedAreShared) {
  for (const char* name : {"a/1", "b/1", "b/c/1"}) Put(name, "x");
  const ProjectView::Scan first = Look();
  Put("b/2", "x");
  const ProjectView::Scan second = Look();
  ASSERT_EQ(second->top->folders.size(), 2U);
  EXPECT_EQ(second->top->folders[0].folder, first->top->folders[0].folder);
  EXPECT_NE(second->top->folders[1].folder, first->top->folders[1].folder);
  EXPECT_EQ(second->top->folders[1].folder->folders[0].folder,
            first->top->folders[1].folder->folders[0].folder);
}

TEST_F(ProjectViewTest, WhatIsIgnoredIsLookedAtAnewWhenTheRulesChange) {
  Put("c/out/x.o", "x");
  Put("c/b/out/y.o", "x");
  const ProjectView::Scan first = Look();
  Put(".gitignore", "out\n");
  EXPECT_EQ(DeletedIn(CompareScans(*first, *Look())), (Paths{"c/b/out/y.o", "c/out/x.o"}));
  ASSERT_TRUE(Remove(temp_.Sub(".gitignore")));
  EXPECT_EQ(DeletedIn(CompareScans(*first, *Look())), Paths());
}

TEST_F(ProjectViewTest, AFileIsFollowedThroughItsOtherNames) {
  TempDir outside;
  ASSERT_TRUE(ReplaceFile(outside.Sub("file"), "x", Durable::kNo));
  Put("a/own", "x");
  ASSERT_EQ(::link(outside.Sub("file").c_str(), temp_.Sub("a/hard").c_str()), 0);
  const ProjectView::Scan first = Look();
  const int fd = ::open(outside.Sub("file").c_str(), O_WRONLY | O_APPEND);
  ASSERT_EQ(::write(fd, "more", 4), 4);
  ::close(fd);
  EXPECT_EQ(WrittenIn(CompareScans(*first, *Look())), Paths{"a/hard"});
}

TEST_F(ProjectViewTest, WhatDoesNotFitTheLimitsIsWalkedEachTime) {
  for (int i = 0; i < 5; ++i) Put(fmt::format("f{}", i), "x");
  ProjectView view(temp_.path(), {}, {}, {.max_entries = 3});
  EXPECT_TRUE(view.Look({}).value()->capped);
  EXPECT_FALSE(view.is_watched());
  EXPECT_EQ(view.Unchanged(), nullptr);
}

/// Any order of changes: what is looked at by the watch is what a walk sees.
TEST_F(ProjectViewTest, LookingAgainSeesWhatAWalkSees) {
  Random random(7);
  const auto name = [&] {
    std::string path;
    for (std::uint64_t depth = random.Next() % 3 + 1; depth > 0; --depth)
      path += fmt::format("{}{}", path.empty() ? "" : "/", "abcd"[random.Next() % 4]);
    return path;
  };
  for (int step = 0; step < 3000; ++step) {
    const std::string one = temp_.Sub(name());
    const std::string other = temp_.Sub(name());
    // Failures are part of it: a file in the way of a folder, a folder moved into itself.
    switch (random.Next() % 8) {
      case 0: (void)RemoveTree(one); break;
      case 1: (void)Rename(one, other); break;
      case 2: (void)MakeDirs(one); break;
      case 3: (void)::link(one.c_str(), other.c_str()); break;
      case 4: (void)::chmod(one.c_str(), 0700); break;
      case 5:
        (void)ReplaceFile(one + "/.gitignore", random.Next() % 2 == 0 ? "a\n" : "", Durable::kNo);
        break;
      default: (void)ReplaceFile(one, fmt::format("{}", step), Durable::kNo); break;
    }
    if (random.Next() % 4 != 0) continue;
    const ProjectScan walked =
        ScanProject({.root = temp_.path(), .expendable = {"out", "a"}}, {}).value();
    const ProjectView::Scan seen = Look();
    const std::vector<ScanChange> difference = CompareScans(walked, *seen);
    ASSERT_TRUE(difference.empty()) << step << ": " << difference.front().path;
    ASSERT_EQ(seen->top->entries, walked.top->entries) << step;
  }
  EXPECT_TRUE(view_.is_watched());
}

}  // namespace
}  // namespace stet::tool
