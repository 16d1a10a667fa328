#include "tool/git/settings.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

using Settings = std::vector<GitSetting>;

TEST(GitSettingsTest, TheyAreReadAsGitReadsThem) {
  const auto read = ParseGitSettings(
      "\xEF\xBB\xBF# a comment\n[core]\n\tBare = false ; why\r\n\tsymlinks\n"
      "[remote \"Or\\\"igin\"] url = a\n[diff.Word]\n  Command = \" x # y \" z  \\\n  w # c\n"
      "[alias] st = \"!sh -c \\\"a\\\\tb\\\"\"");
  ASSERT_TRUE(read) << read.error().Text();
  EXPECT_EQ(*read, (Settings{{"core.bare", "false"},
                             {"core.symlinks", "true"},
                             {"remote.Or\"igin.url", "a"},
                             {"diff.word.command", " x # y  z    w"},
                             {"alias.st", "!sh -c \"a\\tb\""}}));
}

TEST(GitSettingsTest, WhatGitWouldNotReadIsRefused) {
  for (const char* text :
       {"[core\nbare = x", "bare = x", "[core]\n=x", "[core]\nx = \"a\n", "[]\n",
        "[core \"a\nb\"]\n", "[core]\nx y\n", "[core]\nx = a\\q\n", "[core] [x\n"})
    EXPECT_FALSE(ParseGitSettings(text)) << text;
}

TEST(GitSettingsTest, WhatACloneWritesIsHarmless) {
  const auto read = ParseGitSettings(
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
      "\tlogallrefupdates = true\n\tfsmonitor = true\n[remote \"origin\"]\n"
      "\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
      "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = x\n"
      "[submodule \"lib\"]\n\tactive = true\n\turl = ssh://[::1]/x\n\tupdate = rebase\n"
      "[user]\n\tname = A\n[alias]\n\tst = status\n[pager]\n\tlog = false\n"
      "[extensions]\n\tworktreeConfig = true\n[http \"https://x/\"]\n\textraheader = y\n");
  ASSERT_TRUE(read);
  for (const GitSetting& setting : *read) EXPECT_TRUE(IsHarmless(setting)) << setting.name;
}

TEST(GitSettingsTest, WhatNamesAProgramOrIsNotKnownIsNot) {
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"core.fsmonitor", "x"},
                                                        {"core.hookspath", "x"},
                                                        {"core.pager", "x"},
                                                        {"core.editor", "x"},
                                                        {"core.sshcommand", "x"},
                                                        {"core.askpass", "x"},
                                                        {"core.gitproxy", "x"},
                                                        {"core.worktree", "/"},
                                                        {"core.unheardof", "x"},
                                                        {"core.alternaterefscommand", "x"},
                                                        {"diff.external", "x"},
                                                        {"diff.x.textconv", "x"},
                                                        {"diff.x.command", "x"},
                                                        {"diff.a.b.command", "x"},
                                                        {"filter.x.clean", "x"},
                                                        {"filter.x.smudge", "x"},
                                                        {"filter.x.process", "x"},
                                                        {"merge.x.driver", "x"},
                                                        {"gpg.program", "x"},
                                                        {"gpg.ssh.program", "x"},
                                                        {"gpg.ssh.defaultkeycommand", "x"},
                                                        {"credential.helper", "x"},
                                                        {"credential.https://a.b.helper", "x"},
                                                        {"alias.x", "!x"},
                                                        {"interactive.difffilter", "x"},
                                                        {"sequence.editor", "x"},
                                                        {"remote.o.uploadpack", "x"},
                                                        {"remote.o.receivepack", "x"},
                                                        {"remote.o.vcs", "x"},
                                                        {"remote.o.url", "ext::sh -c x"},
                                                        {"url.ext::sh -c x.insteadof", "https://"},
                                                        {"protocol.ext.allow", "always"},
                                                        {"protocol.allow", "always"},
                                                        {"include.path", "x"},
                                                        {"includeif.gitdir:/.path", "x"},
                                                        {"submodule.x.update", "!x"},
                                                        {"pager.log", "x"},
                                                        {"tar.x.command", "x"},
                                                        {"trailer.x.command", "x"},
                                                        {"browser.x.cmd", "x"},
                                                        {"difftool.x.cmd", "x"},
                                                        {"mergetool.x.cmd", "x"},
                                                        {"uploadpack.packobjectshook", "x"},
                                                        {"sendemail.smtpserver", "/x"},
                                                        {"gc.recentobjectshook", "x"},
                                                        {"init.templatedir", "x"},
                                                        {"lfs.customtransfer.x.path", "x"},
                                                        {"man.x.cmd", "x"},
                                                        {"unheardof.x", "y"}})
    EXPECT_FALSE(IsHarmless({name, value})) << name;
}

}  // namespace
}  // namespace stet::tool
