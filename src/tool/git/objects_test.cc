#include "tool/git/objects.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

using Texts = std::vector<std::string>;

class GitObjectsTest : public GitFixture {
 protected:
  GitObjectsTest() { Git("init -q"); }

  /// The id of a new blob.
  std::string Blob(const std::string& text) {
    Put("blob", text);
    std::string id = Git("hash-object -w --no-filters blob");
    id.pop_back();
    return id;
  }
  [[nodiscard]] GitObjects Objects(GitFormat format = GitFormat::kSha1) const {
    return {format, {root_ + "/.git/objects"}, scratch_};
  }
  static Texts ReadAll(const GitObjects& objects, const Texts& ids) {
    Texts texts(ids.size(), "none");
    EXPECT_TRUE(objects.Read(ids, [&](std::size_t which, std::string_view bytes) {
      texts[which] = bytes;
      return true;
    }));
    return texts;
  }
  static GitObject Wanted(std::string id, std::uint64_t size) {
    return {.id = std::move(id), .repository = 0, .size = size};
  }

  std::string scratch_ = dir_.path() + "/scratch";
};

TEST_F(GitObjectsTest, LooseAndPackedBlobsAreReadInOrder) {
  const std::string large(3'000'000, 'x');
  const Texts ids = {Blob("one\n"),        Blob(""),     Blob(large),
                     std::string(40, 'a'), Blob("\n\n"), Blob(std::string("\0\n", 2))};
  const Texts texts = {"one\n", "", large, "none", "\n\n", std::string("\0\n", 2)};
  EXPECT_EQ(ReadAll(Objects(), ids), texts);
  Git("add -A && git commit -qm x && git repack -qad");
  Git("hash-object -w --stdin </dev/null >/dev/null");
  for (const std::string& id : ids) {
    if (id[0] != 'a' || id[1] != 'a') ShellIn(root_, "echo " + id + " >>ids");
  }
  ShellIn(root_, "git pack-objects -q .git/objects/pack/pack <ids >/dev/null && git prune-packed");
  EXPECT_EQ(ReadAll(Objects(), ids), texts);
  const std::vector<GitObject> wanted = {Wanted(ids[0], 4), Wanted(ids[0], 5), Wanted(ids[1], 0),
                                         Wanted(ids[2], large.size()), Wanted(ids[3], 4)};
  EXPECT_EQ(Objects().Has(wanted), (std::vector{true, false, true, true, false}));
}

TEST_F(GitObjectsTest, ReadingEndsWhenNoMoreIsWanted) {
  const Texts ids = {Blob("one\n"), Blob("two\n"), Blob("three\n")};
  Texts got;
  EXPECT_TRUE(Objects().Read(ids, [&](std::size_t, std::string_view bytes) {
    got.emplace_back(bytes);
    return got.size() < 2;
  }));
  EXPECT_EQ(got, (Texts{"one\n", "two\n"}));
}

TEST_F(GitObjectsTest, OnlyBlobsAreThere) {
  const std::string id = Blob("one\n");
  Git("add -A && git commit -qm x");
  std::string tree = Git("rev-parse HEAD^{tree}");
  tree.pop_back();
  const std::vector<GitObject> wanted = {Wanted(tree, 32), Wanted(id, 4)};
  EXPECT_EQ(Objects().Has(wanted), (std::vector{false, true}));
  EXPECT_EQ(ReadAll(Objects(), {tree, id}), (Texts{"none", "one\n"}));
}

TEST_F(GitObjectsTest, WhatIsNoIdIsRefused) {
  const std::vector<GitObject> wanted = {Wanted("HEAD", 1)};
  EXPECT_EQ(Objects().Has(wanted), std::vector{false});
  const Texts ids = {"HEAD\n"};
  const Status read = Objects().Read(ids, [](std::size_t, std::string_view) { return true; });
  EXPECT_EQ(read.error().code, Code::kInvalid);
}

TEST_F(GitObjectsTest, ADamagedObjectIsLeftOutAndThoseBehindItAreRead) {
  const Texts ids = {Blob("one\n"), Blob(std::string(20'000, 'y')), Blob("three\n"),
                     Blob("four\n")};
  const auto path = [&](std::size_t which) {
    return root_ + "/.git/objects/" + ids[which].substr(0, 2) + "/" + ids[which].substr(2);
  };
  ShellIn(root_, "chmod -R u+w .git/objects && printf garbage >" + path(1));
  // Bytes of another object: only their hash tells.
  ShellIn(root_, "cp " + path(3) + " " + path(2));
  EXPECT_EQ(ReadAll(Objects(), ids), (Texts{"one\n", "none", "none", "four\n"}));
}

TEST_F(GitObjectsTest, BorrowedObjectsAndSeveralFoldersAreRead) {
  const std::string id = Blob("one\n");
  ShellIn(dir_.path(), "git clone -q -s project shared 2>/dev/null; mkdir 'a:\"b'");
  EXPECT_EQ(ReadAll({GitFormat::kSha1, {dir_.path() + "/shared/.git/objects"}, scratch_}, {id}),
            Texts{"one\n"});
  const std::string odd = dir_.path() + "/a:\"b/objects";
  ASSERT_TRUE(Rename(root_ + "/.git/objects", odd));
  ASSERT_TRUE(MakeDirs(dir_.path() + "/empty"));
  EXPECT_EQ(ReadAll({GitFormat::kSha1, {dir_.path() + "/empty", odd}, scratch_}, {id}),
            Texts{"one\n"});
}

TEST_F(GitObjectsTest, LongIdsAreRead) {
  ASSERT_TRUE(RemoveTree(root_ + "/.git"));
  Git("init -q --object-format=sha256");
  const std::string id = Blob("one\n");
  EXPECT_EQ(id, BlobId("one\n", GitFormat::kSha256));
  EXPECT_EQ(ReadAll(Objects(GitFormat::kSha256), {id}), Texts{"one\n"});
}

TEST_F(GitObjectsTest, WithoutFoldersOrWithoutGitNothingIsThere) {
  const std::string id = Blob("one\n");
  const std::vector<GitObject> wanted = {Wanted(id, 4)};
  const Texts ids = {id};
  const auto nothing = [](std::size_t, std::string_view) { return true; };
  EXPECT_EQ(GitObjects(GitFormat::kSha1, {}, scratch_).Has(wanted), std::vector{false});
  const std::string path = Environment::OfProcess().Get("PATH");
  ASSERT_TRUE(MakeDirs(dir_.path() + "/bin"));
  ::setenv("PATH", (dir_.path() + "/bin").c_str(), 1);
  const std::vector<bool> has = Objects().Has(wanted);
  const Status read = Objects().Read(ids, nothing);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(has, std::vector{false});
  EXPECT_EQ(read.error().code, Code::kNotFound);
}

TEST_F(GitObjectsTest, AnObjectThatNeverComesIsGivenUp) {
  const std::string id = Blob("one\n");
  const std::string path = root_ + "/.git/objects/" + id.substr(0, 2) + "/" + id.substr(2);
  ASSERT_TRUE(Remove(path));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::vector<GitObject> wanted = {Wanted(id, 4)};
  EXPECT_EQ(Objects().Has(wanted, Deadline::After(std::chrono::milliseconds(50))),
            std::vector{false});
}

TEST_F(GitObjectsTest, AHostileRepositoryRunsNothingAndIsNotWritten) {
  const std::string marker = dir_.path() + "/ran";
  const std::string id = Blob("one\n");
  Put("a.txt", "one\n");
  Git("add -A && git commit -qm x && git replace " + id +
      " $(echo two | git hash-object -w --stdin)");
  const std::string touch = "touch " + marker;
  Git("config core.fsmonitor '" + touch + "' && git config filter.x.smudge '" + touch +
      "' && git config filter.x.process '" + touch + "' && git config core.sshCommand '" + touch +
      "' && git config core.hooksPath '" + root_ +
      "/hooks' && git config core.alternateRefsCommand '" + touch +
      "' && git config remote.origin.url 'ext::" + touch +
      "' && git config remote.origin.promisor true && git config extensions.partialClone origin "
      "&& git config core.repositoryformatversion 1 && git config protocol.ext.allow always");
  ShellIn(root_, "mkdir -p hooks && printf '#!/bin/sh\\n" + touch +
                     "\\n' >hooks/post-index-change && chmod +x hooks/*; echo '* filter=x' "
                     ">.gitattributes; echo /nowhere >.git/objects/info/alternates; rm -f " +
                     marker);
  const std::string before = ShellIn(root_, "find .git -type f -exec md5sum {} + | sort");
  const std::string gone(40, 'b');
  const std::vector<GitObject> wanted = {Wanted(id, 4), Wanted(gone, 4)};
  EXPECT_EQ(Objects().Has(wanted), (std::vector{true, false}));
  EXPECT_EQ(ReadAll(Objects(), {gone, id}), (Texts{"none", "one\n"})) << "and nothing is replaced";
  EXPECT_FALSE(Exists(marker));
  EXPECT_EQ(ShellIn(root_, "find .git -type f -exec md5sum {} + | sort"), before);
  // The repository is one that does run it: git asks for the object that is missing.
  (void)ShellIn(root_, "git cat-file -p " + gone + " >/dev/null 2>&1 || true");
  EXPECT_TRUE(Exists(marker));
}

}  // namespace
}  // namespace stet::tool
