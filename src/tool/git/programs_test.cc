#include "tool/git/programs.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/subprocess/subprocess.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using Texts = std::vector<std::string>;

class GitProgramsTest : public testing::Test {
 protected:
  GitProgramsTest() { Git(".", "init -q project && mkdir project/deep"); }

  void Git(const std::string& folder, const std::string& command) const {
    SpawnOptions options;
    options.argv = {"/bin/sh", "-c",
                    "git -c user.name=u -c user.email=u@example.com -c protocol.file.allow=always "
                    "-c init.defaultBranch=main " +
                        command};
    options.cwd = dir_.path() + "/" + folder;
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::minutes(1)), {});
    ASSERT_TRUE(ran && ran->exit_code == 0) << command << (ran ? ran->err : "");
  }
  void Put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    ASSERT_TRUE(MakeDirs(ParentDir(project_ + "/" + name)));
    ASSERT_TRUE(ReplaceFile(project_ + "/" + name, text, Durable::kNo, mode));
  }
  [[nodiscard]] Texts Settings(const std::string& folder = "project/deep") const {
    Texts texts;
    for (const GitProgram& one : FindGitPrograms(dir_.path() + "/" + folder).settings)
      texts.push_back(Text(one, dir_.path()));
    return texts;
  }

  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
};

TEST_F(GitProgramsTest, AnOrdinaryRepositoryNamesNone) {
  Git("project", "commit -q --allow-empty -m x && git remote add origin https://x/y");
  const GitPrograms found = FindGitPrograms(project_ + "/deep");
  EXPECT_EQ(found.root, project_);
  EXPECT_TRUE(found.settings.empty() && found.hooks.empty());
  EXPECT_EQ(FindGitPrograms(dir_.path()).root, "");
}

TEST_F(GitProgramsTest, SettingsAndHooksAreFound) {
  Git("project", "config diff.external x && git config core.hooksPath y");
  Put(".git/hooks/pre-commit", "", 0755);
  Put(".git/hooks/not-executable", "", 0644);
  EXPECT_EQ(Settings(), Texts{"diff.external in project/.git/config"});
  Texts hooks;
  for (const GitProgram& one : FindGitPrograms(project_).hooks)
    hooks.push_back(Text(one, project_));
  EXPECT_EQ(hooks,
            (Texts{"core.hookspath in .git/config", "hook pre-commit in .git/hooks/pre-commit"}));
}

TEST_F(GitProgramsTest, SoAreThoseOfAWorktreeAndOfItsRepository) {
  Git("project", "commit -q --allow-empty -m x && git worktree add -q ../tree");
  EXPECT_EQ(Settings("tree"), Texts{});
  Git("project", "config filter.x.clean y");
  EXPECT_EQ(Settings("tree"), Texts{"filter.x.clean in project/.git/config"});
  Put(".git/worktrees/tree/config.worktree", "[core]\nfsmonitor = z\n");
  EXPECT_EQ(Settings("tree").front(),
            "core.fsmonitor in project/.git/worktrees/tree/config.worktree");
}

TEST_F(GitProgramsTest, SoAreThoseOfSubmodulesWhereverTheirRepositoryLies) {
  Git(".",
      "init -q lib && cd lib && git -c user.name=u -c user.email=u@e commit -q --allow-empty -m x");
  Git("project", "submodule -q add ../lib a/lib");
  EXPECT_EQ(Settings(), Texts{});
  EXPECT_EQ(Settings("project/a/lib"), Texts{});
  Git("project/a/lib", "config core.fsmonitor x");
  EXPECT_EQ(Settings(), Texts{"core.fsmonitor in project/.git/modules/a/lib/config"});
  Git("project/a/lib", "config --unset core.fsmonitor");
  Git("project", "clone -q ../lib inner && git add inner 2>/dev/null");
  EXPECT_EQ(Settings(), Texts{});
  Git("project/inner", "config core.fsmonitor x");
  EXPECT_EQ(Settings(), Texts{"core.fsmonitor in project/inner/.git/config"});
}

TEST_F(GitProgramsTest, AFolderThatIsARepositoryItselfIsFound) {
  Git("project", "init -q --bare deep/bare && git -C deep/bare config core.fsmonitor x");
  EXPECT_EQ(Settings("project/deep/bare"), Texts{"core.fsmonitor in project/deep/bare/config"});
  EXPECT_EQ(FindGitPrograms(project_ + "/deep/bare").root, project_ + "/deep/bare");
  EXPECT_EQ(Settings(), Texts{});
}

TEST_F(GitProgramsTest, WhatCannotBeReadOrMakesNoSenseCounts) {
  Put(".git/config", "[core\n");
  EXPECT_EQ(Settings(), Texts{"what makes no sense in project/.git/config"});
  Put(".git/config", std::string(std::size_t{2} << 20U, '\n'));
  EXPECT_EQ(Settings(), Texts{"what cannot be read in project/.git/config"});
  ASSERT_TRUE(RemoveTree(project_ + "/.git/config"));
  ASSERT_EQ(::mkfifo((project_ + "/.git/config").c_str(), 0600), 0);
  EXPECT_EQ(Settings(), Texts{"what cannot be read in project/.git/config"});
  ASSERT_EQ(::unlink((project_ + "/.git/config").c_str()), 0);
  Put(".git/index", std::string("DIRC\0\0\0\2\0\0\0\1", 12));
  EXPECT_EQ(Settings(), Texts{"what cannot be looked through in project/.git/index"});
  ASSERT_TRUE(RemoveTree(project_ + "/.git"));
  Put(".git", "gitdir: /nowhere\n");
  EXPECT_EQ(Settings(), Texts{"a link that cannot be followed in project/.git"});
}

TEST_F(GitProgramsTest, ItsWordsCannotDriveATerminal) {
  Put(".git/config", "[filter \"\x1b[2J\"]\nclean = x\n");
  ASSERT_EQ(Settings().size(), 1U);
  EXPECT_FALSE(Settings()[0].contains('\x1b')) << Settings()[0];
}

TEST_F(GitProgramsTest, HooksAreKeptOffBesideWhatIsSetAlready) {
  EXPECT_EQ(KeepGitHooksOff({"A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x"}),
            (Texts{"A=b", "GIT_CONFIG_KEY_0=x", "GIT_CONFIG_KEY_1=core.fsmonitor",
                   "GIT_CONFIG_VALUE_1=false", "GIT_CONFIG_KEY_2=core.hooksPath",
                   "GIT_CONFIG_VALUE_2=/dev/null", "GIT_CONFIG_COUNT=3"}));
}

}  // namespace
}  // namespace stet::tool
