#include "tool/git/index.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

using Texts = std::vector<std::string>;

class GitIndexTest : public GitFixture {
 protected:
  [[nodiscard]] Result<GitIndex> ReadIndex(GitFormat format = GitFormat::kSha1) const {
    return GitIndex::Read(root_ + "/.git", format);
  }
  /// As `git ls-files --stage` says it.
  [[nodiscard]] std::string Stages(GitFormat format = GitFormat::kSha1) const {
    const Result<GitIndex> index = ReadIndex(format);
    if (!index) return index.error().Text();
    std::string text;
    for (const GitIndexEntry& entry : index->entries()) {
      std::array<char, 16> mode{};
      std::snprintf(mode.data(), mode.size(), "%06o", entry.mode);
      text += std::string(mode.data()) + " " + HexOf({entry.id.data(), IdSize(format)}) + " " +
              std::to_string(entry.stage) + "\t" + entry.path + "\n";
    }
    return text;
  }
  void Files(int count) const {
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      Put("d" + std::to_string(i % 7) + "/deep/f" + name, name + "\n", i % 3 == 0 ? 0755 : 0644);
    }
  }
};

TEST_F(GitIndexTest, IsReadAsGitReadsItInEveryVersion) {
  Files(50);
  Git("init -q");
  for (const char* version : {"2", "3", "4"}) {
    Git(std::string("update-index --index-version ") + version);
    Git("add -A");
    EXPECT_EQ(Stages(), Git("ls-files --stage")) << version;
    EXPECT_EQ(ReadIndex()->entries().size(), 50U);
  }
}

TEST_F(GitIndexTest, WithoutAnIndexThereAreNoEntries) {
  Git("init -q");
  EXPECT_EQ(ReadIndex()->entries().size(), 0U);
}

TEST_F(GitIndexTest, LongIdsAreRead) {
  Files(5);
  Git("init -q --object-format=sha256 && git add -A");
  EXPECT_EQ(Stages(GitFormat::kSha256), Git("ls-files --stage"));
  EXPECT_FALSE(ReadIndex(GitFormat::kSha1));
}

TEST_F(GitIndexTest, OneThatIsSplitIsPutTogether) {
  Files(300);
  // More of it in the one file would make git write the shared one anew.
  Git("init -q && git config splitIndex.maxPercentChange 90 && git add -A");
  for (const char* version : {"2", "4"}) {
    Git(std::string("update-index --index-version ") + version);
    Git("update-index --split-index");
    EXPECT_FALSE(ReadIndex()->shared().empty());
    EXPECT_EQ(Stages(), Git("ls-files --stage"));
    // Replaced, removed and new ones, and a run of each.
    for (int i = 0; i < 300; i += 7)
      Put("d" + std::to_string(i % 7) + "/deep/f" + std::to_string(i), version);
    Git("add -A && git rm -rqf --ignore-unmatch d3 && git rm -q --cached d5/deep/f12");
    Put("d1/new", "new");
    Put("zz", version);
    Git("add -A");
    EXPECT_FALSE(ReadIndex()->shared().empty());
    EXPECT_EQ(Stages(), Git("ls-files --stage")) << version;
  }
  ASSERT_EQ(ShellIn(root_, "rm .git/sharedindex.*"), "");
  EXPECT_FALSE(ReadIndex());
}

TEST_F(GitIndexTest, FoldersOfASparseIndexAreNoFiles) {
  Files(50);
  Git("init -q && git add -A && git commit -qm x");
  Git("sparse-checkout init --cone --sparse-index && git sparse-checkout set d1");
  const Result<GitIndex> index = ReadIndex();
  ASSERT_TRUE(index);
  bool folder = false;
  for (const GitIndexEntry& entry : index->entries()) {
    if (entry.path != "d2/") continue;
    folder = true;
    EXPECT_FALSE(entry.is_file());
  }
  EXPECT_TRUE(folder);
  EXPECT_NE(index->Find("d1/deep/f1"), nullptr);
  EXPECT_EQ(index->Find("d2/deep/f2"), nullptr);
}

TEST_F(GitIndexTest, OfAnUnfinishedMergeNoVersionIsTheOne) {
  Put("a", "1\n");
  Git("init -q && git add a && git commit -qm x && git checkout -qb other");
  Put("a", "2\n");
  Git("commit -qam y && git checkout -q main");
  Put("a", "3\n");
  Git("commit -qam z && ! git merge -q other >/dev/null");
  EXPECT_EQ(ReadIndex()->entries().size(), 3U);
  EXPECT_EQ(ReadIndex()->Find("a"), nullptr);
}

TEST_F(GitIndexTest, WhatIsOnlyMeantToBeAddedIsKnown) {
  Put("a", "1\n");
  Git("init -q && git add -N a");
  ASSERT_NE(ReadIndex()->Find("a"), nullptr);
  EXPECT_TRUE(ReadIndex()->Find("a")->to_add);
}

TEST_F(GitIndexTest, OneWithAnUnknownExtensionIsNone) {
  Put("a", "1\n");
  Git("init -q && git add a");
  const std::string bytes = ReadFile(root_ + "/.git/index").value();
  const auto parse = [&](std::string_view extension) {
    // Behind the entries, before the hash of them all.
    const std::string with =
        bytes.substr(0, bytes.size() - 20) + std::string(extension) + std::string(20, '\0');
    return GitIndex::Parse({.bytes = with}, GitFormat::kSha1, nullptr).has_value();
  };
  EXPECT_TRUE(parse(""));
  EXPECT_TRUE(parse(std::string_view("XYZW\0\0\0\1a", 9)));
  EXPECT_FALSE(parse(std::string_view("xyzw\0\0\0\1a", 9)));
  EXPECT_FALSE(parse(std::string_view("XYZW\0\0\0\2a", 9)));
}

TEST_F(GitIndexTest, SubmodulesAreFoundInItsParts) {
  Git("init -q && git init -q lib && git -C lib commit -q --allow-empty -m x");
  Git("submodule -q add ./lib sub >/dev/null 2>&1 || git add lib 2>/dev/null");
  EXPECT_EQ(GitLinks(root_ + "/.git/index").value().size(), 1U);
  EXPECT_FALSE(GitLinks(root_ + "/.git/HEAD"));
}

TEST(GitIndexBytesTest, AnyBytesAreRead) {
  Random random(3);
  const std::string head("DIRC\0\0\0\4\0\0\0\5", 12);
  for (int round = 0; round < 20'000; ++round) {
    std::string broken = head;
    broken[7] = static_cast<char>(2 + random.Below(3));
    broken[11] = static_cast<char>(random.Below(3));
    const std::size_t size = random.Below(400);
    while (broken.size() < size) broken += static_cast<char>(random.Below(256));
    for (const GitFormat format : {GitFormat::kSha1, GitFormat::kSha256}) {
      const auto index = GitIndex::Parse({.bytes = broken}, format, [&](const std::string&) {
        return Result<GitIndexFile>(GitIndexFile{.bytes = broken});
      });
      if (index) {
        EXPECT_LE(index->entries().size(), 2U);
      }
    }
  }
}

TEST_F(GitIndexTest, OneThatIsDamagedAnywhereIsReadWithoutHarm) {
  Files(30);
  Git("init -q && git add -A && git update-index --split-index");
  Put("d0/deep/f0", "changed");
  Git("add -A");
  const std::string bytes = ReadFile(root_ + "/.git/index").value();
  const std::string name = ReadIndex()->shared();
  const std::string shared = ReadFile(root_ + "/.git/sharedindex." + name).value();
  Random random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string own = bytes;
    std::string base = shared;
    std::string& broken = random.Below(2) == 0 ? own : base;
    for (std::size_t times = 1 + random.Below(3); times > 0; --times)
      broken[random.Below(broken.size())] = static_cast<char>(random.Below(256));
    const auto index = GitIndex::Parse({.bytes = own}, GitFormat::kSha1, [&](const std::string&) {
      return Result<GitIndexFile>(GitIndexFile{.bytes = base});
    });
    if (index) {
      EXPECT_LE(index->entries().size(), 31U);
    }
  }
}

}  // namespace
}  // namespace stet::tool
