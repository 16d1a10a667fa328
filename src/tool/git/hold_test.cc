#include "tool/git/hold.h"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

using Texts = std::vector<std::string>;

class HeldObjectsTest : public GitFixture {
 protected:
  HeldObjectsTest() {
    Git("init -q");
    for (int i = 0; i < 6; ++i) Put("f" + std::to_string(i), "text " + std::to_string(i) + "\n");
    Git("add -A && git commit -qm x");
  }

  /// All that git has of the six files.
  std::vector<GitObject> Needed() {
    files_ = Read();
    std::vector<GitObject> needed;
    for (int i = 0; i < 6; ++i) {
      if (auto object = Object(*files_, "f" + std::to_string(i))) needed.push_back(*object);
    }
    EXPECT_EQ(needed.size(), 6U);
    return needed;
  }
  std::vector<bool> Hold(HeldObjects& held) {
    needed_ = Needed();
    return held.Hold(*files_, needed_);
  }
  /// What can be read of them, from the repository and from what was kept.
  Texts Readable(const HeldObjects& held, bool with_repository = true) const {
    const std::string objects = root_ + "/.git/objects";
    Texts folders = {held.FolderOf(objects)};
    if (with_repository) folders.push_back(objects);
    Texts ids;
    for (const GitObject& object : needed_) ids.push_back(object.id);
    Texts texts;
    (void)GitObjects(GitFormat::kSha1, folders, dir_.path() + "/scratch")
        .Read(ids, [&](std::size_t, std::string_view bytes) {
          texts.emplace_back(bytes);
          return true;
        });
    return texts;
  }
  [[nodiscard]] std::string Listed(const std::string& folder) const {
    return ShellIn(folder, "find . -type f | sort");
  }

  std::string folder_ = dir_.path() + "/held";
  const std::vector<bool> all_ = std::vector<bool>(6, true);
  const Texts texts_ = {"text 0\n", "text 1\n", "text 2\n", "text 3\n", "text 4\n", "text 5\n"};
  std::optional<TrackedFiles> files_;
  std::vector<GitObject> needed_;
};

TEST_F(HeldObjectsTest, LooseObjectsThatACommandDeletesAreKept) {
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  ShellIn(root_, "rm -rf .git/objects");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Readable(held), texts_);
}

TEST_F(HeldObjectsTest, SoArePacks) {
  Git("repack -qad");
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  ShellIn(root_, "rm -rf .git");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Readable(held), texts_);
  // In another process.
  EXPECT_EQ(Readable(HeldObjects(folder_)), texts_);
}

TEST_F(HeldObjectsTest, WhatGarbageCollectionTakesIsKept) {
  for (const char* before : {"true", "git repack -qad"}) {
    ShellIn(root_, before);
    Put("f0", "only here\n");
    Git("add -A && git commit -qm y");
    HeldObjects held(folder_);
    EXPECT_EQ(Hold(held), all_);
    Git("reset -q --hard HEAD~1 && git reflog expire --expire=now --all && git gc -q --prune=now");
    EXPECT_EQ(Readable(held, false).size(), 6U) << "until the command has ended all is held";
    EXPECT_EQ(held.Release(), Texts{});
    const Texts readable = Readable(held);
    EXPECT_EQ(readable.size(), 6U) << before;
    EXPECT_EQ(readable.at(0), "only here\n");
    ASSERT_TRUE(RemoveTree(folder_));
  }
}

TEST_F(HeldObjectsTest, WhatTheRepositoryHasInAnotherPlaceIsLetGo) {
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  const std::string objects = held.FolderOf(root_ + "/.git/objects");
  EXPECT_EQ(ShellIn(objects, "find . -type f | wc -l"), "6\n");
  Git("gc -q --prune=now");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Listed(objects), "");
  // And held there, the next time.
  EXPECT_EQ(held.Hold(*files_, {}), std::vector<bool>());
  ShellIn(root_, "rm -rf .git");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Readable(held), texts_);
}

TEST_F(HeldObjectsTest, ObjectsThatComeOutOfAPackAreHeldAsWell) {
  Git("repack -qad");
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  ShellIn(root_,
          "mv .git/objects/pack/*.pack p && rm -f .git/objects/pack/* && git unpack-objects -q <p");
  EXPECT_EQ(held.Release(), Texts{});
  (void)held.Hold(*files_, {});
  ShellIn(root_, "rm -rf .git");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Readable(held), texts_);
}

TEST_F(HeldObjectsTest, RepositoriesThatAreNotAskedAboutAreHeldOn) {
  ShellIn(root_, "git init -q inner && echo inner >inner/i && git -C inner add i");
  HeldObjects held(folder_);
  const TrackedFiles files = Read();
  const std::vector<GitObject> needed = {*Object(files, "inner/i"), *Object(files, "f0")};
  EXPECT_EQ(held.Hold(files, needed), std::vector<bool>(2, true));
  // Its objects move; then another reading of the project knows the outer repository alone.
  ShellIn(root_ + "/inner", "git commit -qm x && git gc -q --prune=now");
  EXPECT_EQ(held.Release(), Texts{});
  const TrackedFiles later = Read();
  EXPECT_EQ(later.repositories(), 1U);
  (void)held.Hold(later, {});
  ShellIn(root_, "rm -rf inner");
  EXPECT_EQ(held.Release(), Texts{});
  const Texts ids = {needed[0].id};
  std::string text;
  EXPECT_TRUE(GitObjects(GitFormat::kSha1, {held.FolderOf(root_ + "/inner/.git/objects")},
                         dir_.path() + "/scratch")
                  .Read(ids, [&](std::size_t, std::string_view bytes) {
                    text = bytes;
                    return true;
                  }));
  EXPECT_EQ(text, "inner\n");
}

TEST_F(HeldObjectsTest, LinksCostNothingAndAreTakenBack) {
  Git("repack -qad");
  const std::string pack = ShellIn(root_, "ls .git/objects/pack/*.pack");
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  EXPECT_EQ(ShellIn(root_, "stat -c %h " + pack), "2\n");
  EXPECT_EQ(held.Release(), Texts{});
  held.LetGo();
  EXPECT_EQ(ShellIn(root_, "stat -c %h " + pack), "1\n");
  EXPECT_EQ(Listed(held.FolderOf(root_ + "/.git/objects")), "");
}

TEST_F(HeldObjectsTest, WhatIsKeptSurvivesLettingGo) {
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  ShellIn(root_, "rm -rf .git");
  EXPECT_EQ(held.Release(), Texts{});
  held.LetGo();
  EXPECT_EQ(Readable(held), texts_);
}

TEST_F(HeldObjectsTest, BorrowedObjectsAreHeld) {
  Git("repack -qad");
  ShellIn(dir_.path(), "git clone -q -s project clone && mv project lender && mv clone project");
  ShellIn(root_, "echo " + dir_.path() + "/lender/.git/objects >.git/objects/info/alternates");
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  ShellIn(dir_.path(), "rm -rf lender/.git");
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_EQ(Readable(held), texts_);
}

TEST_F(HeldObjectsTest, WhereLinksAreRefusedFilesAreHeldOpenAndCopiedOut) {
  const Result<std::string> other = MakeTempDir("/tmp", "stet-test-");
  ASSERT_TRUE(other);
  if (StatFile(*other)->device == StatFile(root_)->device)
    GTEST_SKIP() << "this machine has one file system for tests";
  {
    HeldObjects held(*other);
    EXPECT_EQ(Hold(held), all_);
    EXPECT_EQ(Listed(held.FolderOf(root_ + "/.git/objects")), "");
    ShellIn(root_, "rm -rf .git");
    EXPECT_EQ(held.Release(), Texts{});
    EXPECT_EQ(Readable(held), texts_);
  }
  ASSERT_TRUE(RemoveTree(*other));
}

TEST_F(HeldObjectsTest, OfMoreThanCanBeHeldOpenTheRestMustBeCopied) {
  const Result<std::string> other = MakeTempDir("/tmp", "stet-test-");
  ASSERT_TRUE(other);
  if (StatFile(*other)->device == StatFile(root_)->device)
    GTEST_SKIP() << "this machine has one file system for tests";
  for (int i = 0; i < 300; ++i) Put("many/" + std::to_string(i), std::to_string(i));
  Git("add -A");
  const TrackedFiles files = Read();
  std::vector<GitObject> needed;
  for (int i = 0; i < 300; ++i) needed.push_back(*Object(files, "many/" + std::to_string(i)));
  {
    HeldObjects held(*other);
    const std::vector<bool> could = held.Hold(files, needed);
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(could, true)), kMaxHeldOpen);
  }
  ASSERT_TRUE(RemoveTree(*other));
}

TEST_F(HeldObjectsTest, WhatIsNowhereAnyMoreIsSaid) {
  Git("repack -qad");
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  // Both names lead to the same bytes.
  ShellIn(root_, "chmod u+w .git/objects/pack/* && truncate -s 0 .git/objects/pack/*.pack");
  EXPECT_EQ(held.Release().size(), 6U);
}

TEST_F(HeldObjectsTest, WithoutAChangeAReleaseNeedsNoGit) {
  HeldObjects held(folder_);
  EXPECT_EQ(Hold(held), all_);
  EXPECT_EQ(held.Release(), Texts{});
  EXPECT_FALSE(Exists(folder_ + "/reading")) << "where git is started";
}

TEST_F(HeldObjectsTest, TheRepositoryStaysAsItIs) {
  Put("f1", "changed\n");
  Git("tag t && git update-index --assume-unchanged f2");
  const auto state = [&] {
    return ShellIn(root_,
                   "find .git -type f -exec sha256sum {} + | sort; find .git -type l; find .git "
                   "-type d | sort; "
                   "git --no-optional-locks status --porcelain; find .git -type f -exec sha256sum "
                   "{} + | sort");
  };
  const std::string before = state();
  {
    const TrackedFiles files = Read();
    std::vector<GitObject> needed;
    for (int i = 0; i < 6; ++i) {
      if (auto object = Object(files, "f" + std::to_string(i))) needed.push_back(*object);
    }
    EXPECT_EQ(needed.size(), 5U);
    HeldObjects held(folder_);
    (void)held.Hold(files, needed);
    const GitObjects objects(GitFormat::kSha1, files.repository(0).objects,
                             dir_.path() + "/scratch");
    EXPECT_EQ(objects.Has(needed), std::vector<bool>(5, true));
    EXPECT_EQ(held.Release(), Texts{});
    held.LetGo();
  }
  EXPECT_EQ(state(), before);
}

/// Whatever commands do, and however often they are held for.
TEST_F(HeldObjectsTest, AfterAnyCommandAllThatWasNeededCanBeRead) {
  constexpr std::array kCommands = {
      "git gc -q --prune=now",
      "git repack -qad",
      "git repack -qAd && git prune --expire=now",
      "git reset -q --hard HEAD~1 2>/dev/null; git reflog expire --expire=now --all && git gc -q "
      "--prune=now",
      "git commit -q --amend -m z && git reflog expire --expire=now --all && git prune "
      "--expire=now",
      "rm -rf .git/objects/?[0-7]*",
      "rm -rf .git/objects/pack/*",
      "rm -rf .git/objects && mkdir .git/objects",
      "for p in .git/objects/pack/*.pack; do mv $p p && rm -f .git/objects/pack/* && "
      "git unpack-objects -q <p; rm -f p; done",
      "rm -rf .git && git init -q && git add -A && git commit -qm again",
      "echo x >>f1 && git add f1",
      "true"};
  Random random(23);
  HeldObjects held(folder_);
  std::map<std::string, std::string> texts;  // By id.
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 6; ++i) {
      if (random.Below(3) == 0)
        Put("f" + std::to_string(i), std::to_string(round) + " of " + std::to_string(i));
    }
    ShellIn(root_, "git add -A && git commit -qm y || true");
    needed_ = Needed();
    const GitObjects objects(GitFormat::kSha1,
                             {held.FolderOf(root_ + "/.git/objects"), root_ + "/.git/objects"},
                             dir_.path() + "/scratch");
    const std::vector<bool> has = objects.Has(needed_);
    std::vector<GitObject> there;
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      if (has[i]) there.push_back(needed_[i]);
    }
    EXPECT_EQ(held.Hold(*files_, there), std::vector<bool>(there.size(), true));
    for (const GitObject& object : there) {
      (void)objects.Read({{object.id}}, [&](std::size_t, std::string_view bytes) {
        texts[object.id] = bytes;
        return true;
      });
    }
    const std::string command = kCommands[random.Below(kCommands.size())];
    ShellIn(root_, command + " 2>/dev/null || true");
    EXPECT_EQ(held.Release(), Texts{}) << command;
    Texts ids;
    for (const auto& [id, text] : texts) ids.push_back(id);
    std::size_t read = 0;
    EXPECT_TRUE(GitObjects(GitFormat::kSha1,
                           {held.FolderOf(root_ + "/.git/objects"), root_ + "/.git/objects"},
                           dir_.path() + "/scratch")
                    .Read(ids, [&](std::size_t which, std::string_view bytes) {
                      ++read;
                      return texts[ids[which]] == bytes;
                    }));
    EXPECT_EQ(read, ids.size()) << round << " " << command;
    // A repository that lost objects is of no more use to git.
    if (!ShellIn(root_,
                 "git fsck --connectivity-only >/dev/null 2>&1 && git rev-parse -q HEAD "
                 ">/dev/null 2>&1 && echo good || true")
             .starts_with("good"))
      ShellIn(root_, "rm -rf .git && git init -q");
  }
  EXPECT_GT(texts.size(), 30U);
}

}  // namespace
}  // namespace stet::tool
