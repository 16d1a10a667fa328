#include "tool/git/tracked.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/random.h"
#include "tool/git/git_fixture.h"
#include "tool/git/objects.h"

namespace stet::tool {
namespace {

const HashBudget kNoHashing{.bytes = 0, .until = Deadline::Never()};

class TrackedFilesTest : public GitFixture {
 protected:
  TrackedFilesTest() {
    Git("init -q");
    Put("a.txt", "one\n");
    Put("src/b.txt", "two\n");
  }
  void Add(const std::string& folder = "") {
    ShellIn(folder.empty() ? root_ : root_ + "/" + folder, "git add -A");
    Settle(folder);
  }
  /// Sets back its time of change, as `touch -r` does.
  void Backdate(const std::string& name, const struct stat& to) const {
    const struct timespec times[2] = {to.st_atim, to.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, (root_ + "/" + name).c_str(), times, 0), 0);
  }
  [[nodiscard]] struct stat Look(const std::string& name) const {
    struct stat now{};
    EXPECT_EQ(::lstat((root_ + "/" + name).c_str(), &now), 0);
    return now;
  }
  void Overwrite(const std::string& name, const std::string& text) const {
    const Fd fd = OpenFile(root_ + "/" + name, O_WRONLY).value();
    ASSERT_TRUE(WriteAll(fd.get(), text));
  }
  /// Whether the object that is said to have a file's bytes is there, and as large.
  [[nodiscard]] bool HasObject(const std::string& name) const {
    const TrackedFiles files = Read();
    const std::optional<GitObject> object = Object(files, name);
    if (!object) return false;
    const GitRepository& where = files.repository(object->repository);
    const std::vector<GitObject> one = {*object};
    return GitObjects(where.format, where.objects, dir_.path() + "/scratch").Has(one)[0];
  }
};

TEST_F(TrackedFilesTest, WhatTheIndexHasAsItIsNeedsNoHash) {
  for (const char* version : {"2", "3", "4"}) {
    Git(std::string("update-index --index-version ") + version);
    Add();
    EXPECT_TRUE(IsSure("a.txt")) << version;
    EXPECT_TRUE(IsSure("src/b.txt"));
  }
  const TrackedFiles files = Read();
  EXPECT_EQ(*Object(files, "a.txt"),
            (GitObject{.id = BlobId("one\n", GitFormat::kSha1), .repository = 0, .size = 4}));
  EXPECT_EQ(files.repository(0).objects, std::vector{root_ + "/.git/objects"});
}

TEST_F(TrackedFilesTest, WhatItDoesNotHaveIsNot) {
  Add();
  Put("new.txt", "new\n");
  EXPECT_FALSE(Is("new.txt"));
  EXPECT_FALSE(Is("src"));
  ASSERT_EQ(::symlink("a.txt", (root_ + "/link").c_str()), 0);
  Add();
  EXPECT_FALSE(Is("link"));
  Put("a.txt", "six\n");
  EXPECT_FALSE(Is("a.txt")) << "of the same size";
}

TEST_F(TrackedFilesTest, WithoutARepositoryNothingIs) {
  ASSERT_TRUE(RemoveTree(root_ + "/.git"));
  EXPECT_FALSE(Is("a.txt"));
  EXPECT_EQ(Read().repositories(), 0U);
}

TEST_F(TrackedFilesTest, AChangeThatSetsTheTimeBackIsSeen) {
  Add();
  const struct stat before = Look("a.txt");
  Overwrite("a.txt", "two\n");
  Backdate("a.txt", before);
  EXPECT_EQ(Look("a.txt").st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  EXPECT_EQ(Look("a.txt").st_ino, before.st_ino);
  EXPECT_FALSE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, AnotherModeIsSeenAndTheHashDecides) {
  Add();
  const struct stat before = Look("a.txt");
  ASSERT_EQ(::chmod((root_ + "/a.txt").c_str(), 0755), 0);
  EXPECT_FALSE(IsSure("a.txt"));
  EXPECT_TRUE(Is("a.txt"));
  struct stat other = before;
  other.st_mode |= S_IXUSR;
  HashBudget none = kNoHashing;
  EXPECT_FALSE(Read().ObjectOf("a.txt", other, none)) << "the mode alone";
}

TEST_F(TrackedFilesTest, EachFieldOfItsStatCounts) {
  Add();
  const struct stat before = Look("a.txt");
  const auto sure = [&](auto change) {
    struct stat now = before;
    change(now);
    HashBudget none = kNoHashing;
    return Read().ObjectOf("a.txt", now, none).has_value();
  };
  EXPECT_TRUE(sure([](struct stat&) {}));
  EXPECT_FALSE(sure([](struct stat& now) { ++now.st_size; }));
  EXPECT_FALSE(sure([](struct stat& now) { ++now.st_ino; }));
  EXPECT_FALSE(sure([](struct stat& now) { now.st_mtim.tv_nsec ^= 1; }));
  EXPECT_FALSE(sure([](struct stat& now) { now.st_ctim.tv_nsec ^= 1; }));
  EXPECT_FALSE(sure([](struct stat& now) { ++now.st_ctim.tv_sec; }));
}

TEST_F(TrackedFilesTest, AFileThatWasOnlyTouchedIsHashed) {
  Add();
  ShellIn(root_, "touch a.txt");
  EXPECT_FALSE(IsSure("a.txt"));
  EXPECT_TRUE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, AnEntryAsYoungAsTheIndexIsHashed) {
  Add();
  EXPECT_TRUE(IsSure("a.txt"));
  // As if the index had been written in the moment of the file.
  const struct stat file = Look("a.txt");
  Backdate(".git/index", file);
  EXPECT_FALSE(IsSure("a.txt"));
  EXPECT_TRUE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, HashingEndsWithItsBudget) {
  Put("large.bin", std::string(kMaxHashedFile + 1, 'x'));
  Add();
  EXPECT_TRUE(IsSure("large.bin"));
  ShellIn(root_, "touch a.txt src/b.txt large.bin");
  EXPECT_FALSE(Is("large.bin"));
  const TrackedFiles files = Read();
  HashBudget budget{.bytes = 7, .until = Deadline::Never()};
  EXPECT_TRUE(files.ObjectOf("a.txt", Look("a.txt"), budget));
  EXPECT_FALSE(files.ObjectOf("src/b.txt", Look("src/b.txt"), budget));
  HashBudget late{.until = Deadline::After(std::chrono::milliseconds(-1))};
  EXPECT_FALSE(files.ObjectOf("src/b.txt", Look("src/b.txt"), late));
}

TEST_F(TrackedFilesTest, FlagsAreNotBelieved) {
  Put("c.txt", "three\n");
  Add();
  Git("update-index --assume-unchanged a.txt && git update-index --skip-worktree src/b.txt");
  Settle();
  EXPECT_TRUE(IsSure("a.txt"));
  EXPECT_TRUE(IsSure("src/b.txt"));
  Put("a.txt", "1no\n");
  Put("src/b.txt", "2no\n");
  EXPECT_EQ(Git("status --porcelain"), "A  a.txt\nA  c.txt\nA  src/b.txt\n");
  EXPECT_FALSE(Is("a.txt"));
  EXPECT_FALSE(Is("src/b.txt"));
  Put("d.txt", "");
  Git("add -N d.txt");
  EXPECT_FALSE(Is("d.txt"));
}

TEST_F(TrackedFilesTest, VersionsOfAnUnfinishedMergeAreNot) {
  Add();
  Git("commit -qm x && git checkout -qb other");
  Put("a.txt", "2\n");
  Git("commit -qam y && git checkout -q main");
  Put("a.txt", "3\n");
  Git("commit -qam z && ! git merge -q other >/dev/null && git checkout -q --ours a.txt");
  EXPECT_EQ(ReadFile(root_ + "/a.txt").value(), "3\n");
  EXPECT_FALSE(Is("a.txt"));
  EXPECT_TRUE(Is("src/b.txt"));
}

TEST_F(TrackedFilesTest, AFileUnderAFilterIsNot) {
  Git("config filter.up.clean 'tr a-z A-Z' && git config filter.up.smudge 'tr A-Z a-z'");
  Put(".gitattributes", "*.up filter=up\n");
  Put("x.up", "text\n");
  Put("y.txt", "$Id$\n");
  Add();
  EXPECT_FALSE(Is("x.up"));
  EXPECT_TRUE(IsSure("y.txt"));
  Put("src/.gitattributes", "* ident\n");
  Add();
  EXPECT_FALSE(Is("src/b.txt"));
  Put(".git/info/attributes", "y.txt working-tree-encoding=UTF-8\n");
  EXPECT_FALSE(Is("y.txt"));
  EXPECT_TRUE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, AttributesOfTheUserCount) {
  Add();
  ASSERT_TRUE(MakeDirs(home_ + "/.config/git"));
  ASSERT_TRUE(ReplaceFile(home_ + "/.config/git/attributes", "a.txt ident\n", Durable::kNo));
  EXPECT_FALSE(Is("a.txt"));
  EXPECT_TRUE(Is("src/b.txt"));
  ASSERT_TRUE(ReplaceFile(home_ + "/mine", "b.txt ident\n", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(home_ + "/more", "[core]\n\tattributesFile = ~/mine\n", Durable::kNo));
  ASSERT_TRUE(
      ReplaceFile(home_ + "/.gitconfig", "[includeIf \"gitdir:/x\"]\npath = more\n", Durable::kNo));
  EXPECT_FALSE(Is("src/b.txt"));
  Put("c.txt", "c\n");
  Add();
  EXPECT_TRUE(Is("c.txt"));
  ASSERT_TRUE(ReplaceFile(home_ + "/.gitconfig", "[core\n", Durable::kNo));
  EXPECT_FALSE(Is("c.txt")) << "what makes no sense may say anything";
}

TEST_F(TrackedFilesTest, AttributesThatAreALinkOrNoTextAreDoubted) {
  Add();
  ASSERT_EQ(::symlink("nowhere", (root_ + "/src/.gitattributes").c_str()), 0);
  EXPECT_FALSE(Is("src/b.txt"));
  EXPECT_TRUE(Is("a.txt"));
  ASSERT_EQ(::mkfifo((root_ + "/.gitattributes").c_str(), 0600), 0);
  EXPECT_FALSE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, WhereAttributesHaveChangedOnlyAHashCounts) {
  Git("config filter.rot.smudge 'tr a-z n-za-m' && git config filter.rot.clean 'tr n-za-m a-z'");
  Put(".gitattributes", "*.rot filter=rot\n");
  Put("x.rot", "nop\n");
  Add();
  Git("commit -qm x");
  // Its object has other bytes of the same number, and the index has its stat.
  Put(".gitattributes", "\n");
  EXPECT_FALSE(IsSure("a.txt"));
  EXPECT_TRUE(Is("a.txt"));
  EXPECT_FALSE(Is("x.rot"));
  ASSERT_TRUE(Remove(root_ + "/.gitattributes"));
  EXPECT_FALSE(Is("x.rot"));
  EXPECT_TRUE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, UnderConversionOfLineEndsTheSizeOfTheObjectDecides) {
  Put("crlf.txt", "a\r\nb\r\n");
  Put("lf.txt", "a\nb\n");
  for (const char* how : {"autocrlf", "text", "eol"}) {
    Git("rm -rq --cached --ignore-unmatch .");
    if (how == std::string("autocrlf")) Git("config core.autocrlf true");
    if (how == std::string("text")) Put(".gitattributes", "* text=auto\n");
    if (how == std::string("eol")) Put(".gitattributes", "*.txt text eol=crlf\n");
    ShellIn(root_, "git add -A 2>/dev/null");
    Settle();
    EXPECT_FALSE(HasObject("crlf.txt")) << how;
    EXPECT_TRUE(HasObject("lf.txt")) << how;
  }
}

TEST_F(TrackedFilesTest, AWorktreeHasItsOwnIndexAndTheSameObjects) {
  Add();
  Git("commit -qm x && git worktree add -q ../tree");
  root_ = dir_.path() + "/tree";
  Settle();
  EXPECT_TRUE(IsSure("a.txt"));
  EXPECT_TRUE(HasObject("a.txt"));
  EXPECT_EQ(Read().repository(0).objects, std::vector{dir_.path() + "/project/.git/objects"});
  Put("only.txt", "here\n");
  Add();
  EXPECT_TRUE(HasObject("only.txt"));
}

TEST_F(TrackedFilesTest, SubmodulesAndRepositoriesInItHaveTheirOwn) {
  ASSERT_TRUE(MakeDirs(dir_.path() + "/lib"));
  ShellIn(dir_.path() + "/lib",
          "git init -q && mkdir -p in && echo s >in/s.txt && git add -A && git commit -qm x");
  Git("submodule --quiet add ../lib mods/lib");
  Git("init -q deep/inner");
  Put("deep/inner/i.txt", "inner\n");
  Put("deep/untracked.txt", "u\n");
  ShellIn(root_ + "/deep/inner", "git add -A");
  Settle("mods/lib");
  Settle("deep/inner");
  EXPECT_TRUE(HasObject("mods/lib/in/s.txt"));
  EXPECT_TRUE(HasObject("deep/inner/i.txt"));
  EXPECT_TRUE(IsSure("mods/lib/in/s.txt"));
  EXPECT_FALSE(Is("deep/untracked.txt"));
  const TrackedFiles files = Read();
  EXPECT_EQ(files.RepositoryOf(""), 0U);
  EXPECT_EQ(files.RepositoryOf("deep"), 0U);
  EXPECT_EQ(files.repositories(), 1U);
  EXPECT_EQ(files.RepositoryOf("mods/lib/in"), 1U);
  EXPECT_EQ(files.repository(1).root, root_ + "/mods/lib");
  Git("add a.txt");
  EXPECT_TRUE(HasObject("a.txt"));
}

TEST_F(TrackedFilesTest, AProjectMayBeAFolderOfItsRepository) {
  Put("src/.gitattributes", "*.id ident\n");
  Put("src/c.id", "c\n");
  Add();
  root_ += "/src";
  EXPECT_TRUE(Is("b.txt"));
  EXPECT_FALSE(Is("c.id"));
  EXPECT_FALSE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, SplitAndSparseIndexesAndLongIdsAreUnderstood) {
  Add();
  Git("update-index --split-index");
  Put("c.txt", "three\n");
  Add();
  EXPECT_TRUE(HasObject("a.txt"));
  EXPECT_TRUE(HasObject("c.txt"));
  Git("update-index --no-split-index && git commit -qm x");
  Git("sparse-checkout init --cone --sparse-index");
  EXPECT_TRUE(HasObject("a.txt"));
  Put("src/b.txt", "two\n");
  EXPECT_FALSE(Is("src/b.txt"));
  ASSERT_TRUE(RemoveTree(root_ + "/.git"));
  Git("init -q --object-format=sha256");
  Add();
  EXPECT_TRUE(HasObject("a.txt"));
  EXPECT_EQ(Object(Read(), "a.txt")->id, BlobId("one\n", GitFormat::kSha256));
}

TEST_F(TrackedFilesTest, WhatIsNotUnderstoodHoldsNothing) {
  Add();
  Git("config core.repositoryformatversion 1 && git config extensions.unheardof true");
  EXPECT_FALSE(Is("a.txt"));
  Git("--git-dir=/nowhere config -f .git/config --unset extensions.unheardof");
  EXPECT_TRUE(Is("a.txt"));
  Put(".git/index", "DIRC and nothing\n");
  EXPECT_FALSE(Is("a.txt"));
  ASSERT_TRUE(Remove(root_ + "/.git/index"));
  ASSERT_EQ(::mkfifo((root_ + "/.git/index").c_str(), 0600), 0);
  EXPECT_FALSE(Is("a.txt"));
}

TEST_F(TrackedFilesTest, ARepositoryOfSomebodyElseHoldsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only the system's user can give files away";
  Add();
  constexpr uid_t kSomebody = 4711;
  ASSERT_EQ(::chown((root_ + "/.git").c_str(), kSomebody, kSomebody), 0);
  EXPECT_FALSE(Is("a.txt"));
  ASSERT_EQ(::chown(root_.c_str(), kSomebody, kSomebody), 0);
  EXPECT_TRUE(Is("a.txt")) << "the files are that person's, too";
}

TEST_F(TrackedFilesTest, ItSaysWhenItIsStale) {
  Put(".gitattributes", "* -text\n");
  Add();
  const auto stale = [&](const std::string& line) {
    const TrackedFiles files = Read();
    EXPECT_FALSE(files.Stale());
    ShellIn(root_, line);
    return files.Stale();
  };
  EXPECT_FALSE(stale("echo x >a.txt; git --no-optional-locks status >/dev/null; echo y >unknown"));
  EXPECT_TRUE(stale("git add a.txt"));
  EXPECT_TRUE(stale("echo '* ident' >.gitattributes"));
  const TrackedFiles files = Read();
  ShellIn(root_, "echo '* ident' >src/.gitattributes");
  EXPECT_FALSE(files.Stale());
  EXPECT_FALSE(Object(files, "src/b.txt"));
  EXPECT_TRUE(files.Stale()) << "once a file below was asked about";
  EXPECT_TRUE(stale("rm src/.gitattributes"));
  EXPECT_TRUE(stale("echo '* ident' >.git/info/attributes"));
  EXPECT_TRUE(stale("git config core.attributesFile x"));
  EXPECT_TRUE(stale("rm -rf .git"));
  EXPECT_TRUE(stale("git init -q"));
}

/// What is said to be git's is, after anything that may happen to a work tree.
TEST_F(TrackedFilesTest, AnObjectThatIsNamedHasTheBytesOfTheFile) {
  Random random(17);
  constexpr std::array kAttributes = {"* text=auto\n",    "*.txt filter=up\n", "* -text\n",
                                      "*.txt eol=crlf\n", "src/* ident\n",     ""};
  constexpr std::array kTexts = {"one\n", "two\r\n", "$Id$\n", "UP\n", "up\n", "", "a\r\nb\n"};
  Git("config filter.up.clean 'tr a-z A-Z' && git config filter.up.smudge 'tr A-Z a-z'");
  int named = 0;
  for (int round = 0; round < 40; ++round) {
    for (int step = 0; step < 4; ++step) {
      const std::string name = (random.Below(2) == 0 ? "f" : "src/f") +
                               std::to_string(random.Below(4)) +
                               (random.Below(2) == 0 ? ".txt" : "");
      switch (random.Below(8)) {
        case 0: Put(".gitattributes", kAttributes[random.Below(kAttributes.size())]); break;
        case 1:
          Git(random.Below(2) == 0 ? "config core.autocrlf true" : "config core.autocrlf false");
          break;
        case 2: ShellIn(root_, "git add -A 2>/dev/null"); break;
        case 3: ShellIn(root_, "git commit -qm x 2>/dev/null || true"); break;
        case 4: ShellIn(root_, "git checkout -q -f . 2>/dev/null || true"); break;
        case 5: ShellIn(root_, "touch -r a.txt " + name + "; git status >/dev/null"); break;
        default: Put(name, kTexts[random.Below(kTexts.size())]);
      }
    }
    const TrackedFiles files = Read();
    std::vector<GitObject> objects;
    std::vector<std::string> texts;
    for (int i = 0; i < 16; ++i) {
      const std::string name =
          (i % 2 == 0 ? "f" : "src/f") + std::to_string(i / 4) + (i % 4 < 2 ? ".txt" : "");
      const std::optional<GitObject> object = Object(files, name);
      if (!object) continue;
      objects.push_back(*object);
      texts.push_back(ReadFile(root_ + "/" + name).value());
    }
    if (objects.empty()) continue;
    const GitRepository& where = files.repository(0);
    const std::vector<bool> has =
        GitObjects(where.format, where.objects, dir_.path() + "/scratch").Has(objects);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (!has[i]) continue;
      ++named;
      EXPECT_EQ(objects[i].id, BlobId(texts[i], where.format)) << texts[i];
    }
  }
  EXPECT_GT(named, 50);
}

}  // namespace
}  // namespace stet::tool
