// Boxes: what a command that runs unasked is kept to, tried through the real program under every
// mechanism that the machine has. Whatever the analysis says of a line, in the box for what only
// reads it has no effect and sees no key.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "json/writer.h"
#include "tests/scenario/box_fixture.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

using sandbox::Mechanism;

INSTANTIATE_TEST_SUITE_P(, BoxTest, testing::ValuesIn(sandbox::kMechanisms), MechanismText);

/// The file of the project is hidden by mounts; Landlock alone grants entry by entry.
TEST_P(BoxTest, WhatOnlyReadsWorks) {
  EXPECT_EQ(Read("cat src/a.txt | sort -r"), "beta\nalpha\n");
  EXPECT_EQ(Read("grep -rn beta src; pwd"), "src/a.txt:2:beta\n" + At("project") + "\n");
  EXPECT_EQ(Read("git config --get alias.st"), "status\n");
  EXPECT_EQ(Read("t=$(mktemp) && echo in >$t && cat $t; echo x >/dev/null; cat <<<here"),
            "in\nhere\n");
  EXPECT_EQ(Run("reads", "exit 7").exit_code, 7);
  EXPECT_EQ(Read("diff <(echo a) <(echo a) && echo same"), "same\n");
}

TEST_P(BoxTest, NothingIsWritableAndNothingIsChanged) {
  const std::string before = Tree(apart_.path());
  for (const char* line : {"echo x >made",
                           "touch made",
                           "rm src/a.txt",
                           "mv src gone",
                           "truncate -s 0 src/a.txt",
                           "chmod 000 src/a.txt",
                           "touch -t 200001010000 src/a.txt",
                           "ln -s a b",
                           "mkdir new",
                           "setfattr -n user.x -v y src/a.txt",
                           "echo x >>.git/config",
                           "echo x >.git/hooks/pre-commit",
                           "git init -q new",
                           "sed -i s/a/b/ src/a.txt",
                           "cp src/a.txt ~/made",
                           "echo x >~/.bashrc",
                           "dd if=/dev/zero of=src/a.txt count=1",
                           "chown nobody src",
                           "mknod n p",
                           "cp /bin/sh ../sh"})
    EXPECT_NE(Run("reads", line).exit_code, 0) << line;
  EXPECT_EQ(Tree(apart_.path()), before);
}

TEST_P(BoxTest, KeysOtherProjectsAndWhatIsExcludedCannotBeRead) {
  if (GetParam() == Mechanism::kLandlockAlone)
    std::printf("what is excluded is granted entry by entry here\n");
  for (const std::string& line :
       {std::string("cat ~/.ssh/*"), std::string("cat ~/notes"), "cat " + At("other/file"),
        "cat " + program_.home() + "/vault", std::string("cat secret.csv"),
        std::string("grep -r . ."), std::string("grep -r . ~"), "grep -r . " + apart_.path(),
        std::string("env"), std::string("cat /proc/*/environ"), std::string("cat /etc/shadow"),
        std::string("ln -s ~/notes /tmp/n && cat /tmp/n")}) {
    const std::string said = Read(line);
    EXPECT_FALSE(said.contains(kSecretText)) << line << "\n" << said;
    EXPECT_FALSE(said.contains("root:")) << line << "\n" << said;
  }
}

TEST_P(BoxTest, ThereIsNoNetworkNoSocketAndNoOtherProcess) {
  EXPECT_NE(Run("reads", "exec 3<>/dev/tcp/127.0.0.1/22").exit_code, 0);
  EXPECT_NE(Run("reads", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'").exit_code, 0);
  EXPECT_NE(Run("reads", fmt::format("kill -0 {}", ::getpid())).exit_code, 0);
  EXPECT_NE(Run("edits", "exec 3<>/dev/tcp/127.0.0.1/22").exit_code, 0);
}

TEST_P(BoxTest, WhatEditsChangesTheProjectButNoGuardedPlace) {
  if (GetParam() == Mechanism::kLandlockAlone) GTEST_SKIP() << "not among its means";
  EXPECT_EQ(Run("edits", "echo x >made && sed -i s/alpha/gamma/ src/a.txt").exit_code, 0);
  EXPECT_EQ(ReadFile(At("project/src/a.txt")).value_or(""), "gamma\nbeta\n");
  for (const char* line : {"echo x >.git/hooks/pre-commit", "echo x >>.git/config",
                           "echo x >~/.bashrc", "mkdir .stet/x", "echo x >../other/file"})
    EXPECT_NE(Run("edits", line).exit_code, 0) << line;
}

/// As root there is more to lose: what the kernel is told, and devices.
TEST_P(BoxTest, TheKernelIsNotToldAnything) {
  const auto kernel = [] {
    return ReadFile("/proc/sys/kernel/core_pattern").value_or("") +
           ReadFile("/proc/sys/kernel/hostname").value_or("") +
           ReadFile("/proc/sys/vm/overcommit_memory").value_or("");
  };
  const std::string before = kernel();
  for (const char* box : {"reads", "edits", "auto"}) {
    if (GetParam() == Mechanism::kLandlockAlone && std::string_view(box) != "reads") continue;
    for (const char* line :
         {"echo '|/bin/sh' >/proc/sys/kernel/core_pattern",
          "echo 1 >/proc/sys/vm/overcommit_memory", "echo x >/proc/sys/kernel/hostname",
          "hostname other", "echo c >/proc/sysrq-trigger", "mknod /tmp/disk b 8 0 && cat /tmp/disk",
          "modprobe dummy", "mount -t tmpfs none /mnt", "echo 1 >/sys/kernel/mm/ksm/run",
          "dmesg -C", "echo 5 >/proc/1/oom_score_adj", "cat /dev/mem", "cat /proc/kcore"})
      EXPECT_NE(Run(box, line).exit_code, 0) << box << ": " << line;
  }
  EXPECT_EQ(kernel(), before);
}

/// As in sessions: not only the repository of the project itself.
TEST_P(BoxTest, WhatGitObeysIsGuardedWhereverItStandsInTheProject) {
  if (GetParam() == Mechanism::kLandlockAlone) GTEST_SKIP() << "not among its means";
  for (const char* folder : {"project/sub/.git/hooks", "project/tools/hooks", "project/real"})
    ASSERT_TRUE(MakeDirs(At(folder)));
  Put("project/sub/.git/config", "[core]\n");
  Put("project/.git/config", "[core]\nhooksPath = tools/hooks\n[include]\npath = ../more\n");
  Put("project/more", "[core]\n");
  for (const char* box : {"edits", "auto"}) {
    for (const char* line :
         {"echo x >>sub/.git/config", "echo x >sub/.git/hooks/pre-commit",
          "echo x >tools/hooks/pre-commit", "echo x >>more", "mv tools t", "rm more"})
      EXPECT_NE(Run(box, line).exit_code, 0) << box << ": " << line;
    EXPECT_EQ(Run(box, "echo x >tools/made && echo x >sub/made").exit_code, 0);
  }
}

TEST_P(BoxTest, AnotherNameOfWhatIsExcludedIsHiddenToo) {
  ASSERT_EQ(::link(At("project/secret.csv").c_str(), At("project/src/plain").c_str()), 0);
  for (const char* box : {"reads", "edits", "auto"}) {
    if (GetParam() == Mechanism::kLandlockAlone && std::string_view(box) != "reads") continue;
    EXPECT_FALSE(Run(box, "cat src/plain; grep -r . .").out.contains(kSecretText)) << box;
  }
}

TEST_P(BoxTest, WhatReadsDoesNotFillTheMemory) {
  // Refused before any of it is touched.
  const Finished ran = Run("reads", "python3 -c 'x = bytearray(2200 << 20)'");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_TRUE(ran.out.contains("MemoryError")) << ran.out;
  EXPECT_EQ(Run("reads", "python3 -c 'x = bytearray(1000 << 20)'").exit_code, 0);
}

class UnaskedTest : public ScriptedTest {
 protected:
  /// The model asks for that command in the mode.
  Ran Ask(const std::string& line, const std::string& mode, const std::string& more = "") {
    std::string call;
    AppendJsonString(call, line);
    Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":)" + call +
               R"(}}}]},{"times":0,"blocks":[{"text":"Done."}]}]})",
           more);
    return Stet({"-p", "--permission-mode", mode, "go"});
  }
};

TEST_F(UnaskedTest, ACommandThatIsTakenForReadingRunsWhereItCanOnlyRead) {
  ASSERT_TRUE(ReplaceFile(project_ + "/a.txt", "alpha\n", Durable::kNo));
  for (const char* mode : {"default", "plan", "acceptEdits", "auto"}) {
    (void)Ask("cat a.txt", mode);
    EXPECT_TRUE(Log().contains(R"("sandbox":{"mechanism":")")) << mode << Log();
    EXPECT_TRUE(Log().contains("alpha")) << mode << Log();
  }
}

/// What a build does is known to nobody beforehand: here it goes for what other programs obey.
TEST_F(UnaskedTest, NoPlaceThatProgramsObeyIsChangedOrMade) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  for (const char* folder : {"/.git/modules/lib", "/sub/.git", "/sub/.vscode"})
    ASSERT_TRUE(MakeDirs(project_ + folder));
  for (const char* file :
       {"/.git/HEAD", "/.git/config", "/.git/modules/lib/HEAD", "/.git/modules/lib/config",
        "/sub/.git/config", "/sub/.vscode/tasks.json"})
    ASSERT_TRUE(ReplaceFile(project_ + file, "old", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(project_ + "/Makefile",
                          "all:\n"
                          "\t-for f in .git/config .git/modules/lib/config sub/.git/config "
                          "sub/.vscode/tasks.json; do echo new >$$f; done\n"
                          "\t-mkdir -p .vscode .claude .git/modules/lib/hooks sub/.git/hooks\n"
                          "\t-echo new >.envrc; echo new >.mcp.json; echo ../evil >.git/commondir\n"
                          "\techo built >made\n",
                          Durable::kNo));
  (void)Ask("make", "auto");
  EXPECT_EQ(ReadFile(project_ + "/made").value_or(""), "built\n") << Log();
  for (const char* file :
       {"/.git/config", "/.git/modules/lib/config", "/sub/.git/config", "/sub/.vscode/tasks.json"})
    EXPECT_EQ(ReadFile(project_ + file).value_or(""), "old") << file;
  EXPECT_FALSE(Exists(project_ + "/.git/commondir"));
  EXPECT_TRUE(Log().contains("which git obeys: it is"));
  for (const char* made : {"/.vscode", "/.claude", "/.envrc", "/.mcp.json",
                           "/.git/modules/lib/hooks", "/sub/.git/hooks", "/.stet", "/.idea"})
    EXPECT_FALSE(Exists(project_ + made)) << made;
}

TEST_F(UnaskedTest, NothingStandsInTheProjectWhenTheProgramWasKilled) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_TRUE(
      ReplaceFile(project_ + "/Makefile", "all:\n\ttouch begun; sleep 600\n", Durable::kNo));
  Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":"make"}}}]}]})");
  Subprocess program = Subprocess::Start(program_.Options({"--cwd", project_, "-p",
                                                           "--permission-mode", "auto", "go"}))
                           .value();
  const Deadline deadline = Deadline::After(std::chrono::seconds(30));
  while (!Exists(project_ + "/begun") && !deadline.Passed()) {
  }
  EXPECT_TRUE(Exists(project_ + "/.vscode")) << "it stands there while the command runs";
  program.Kill(SIGKILL);
  const auto left = [&] {
    return Exists(project_ + "/.vscode") || Exists(project_ + "/.envrc") ||
           Exists(project_ + "/.stet");
  };
  while (left() && !deadline.Passed()) {
  }
  EXPECT_FALSE(left());
}

/// git sees what is hidden as deleted: a commit would lose it.
TEST_F(UnaskedTest, GitChangesNothingUnaskedWhereFilesAreHidden) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_TRUE(ReplaceFile(project_ + "/key.pem", "secret", Durable::kNo));
  const std::string setup =
      "git init -q . && git add -A && git -c user.name=a -c user.email=b@c commit -qm x && echo "
      "'*.pem' >.stetignore";
  const Result<Finished> made = Subprocess::Run({.argv = {"bash", "-c", setup}, .cwd = project_},
                                                Deadline::After(std::chrono::seconds(60)), {});
  ASSERT_TRUE(made && made->exit_code == 0);
  (void)Ask("git add -A", "auto");
  EXPECT_TRUE(Log().contains("git would take what is hidden from commands as deleted")) << Log();
  (void)Ask("git status --short", "auto");
  EXPECT_TRUE(Log().contains("git shows it as deleted or changed here. It is not.")) << Log();
}

TEST_F(UnaskedTest, AHookThatWasNotRunIsTold) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  const std::string setup =
      "git init -q . && git config user.name a && git config user.email b@c && printf "
      "'#!/bin/sh\\nexit "
      "1\\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && touch f && git add f";
  const Result<Finished> made = Subprocess::Run({.argv = {"bash", "-c", setup}, .cwd = project_},
                                                Deadline::After(std::chrono::seconds(60)), {});
  ASSERT_TRUE(made && made->exit_code == 0);
  (void)Ask("git commit -qm x", "auto");
  EXPECT_TRUE(Log().contains("The repository's hook pre-commit was not run")) << Log();
}

TEST_F(UnaskedTest, InModeAutoACommandThatWentWellIsNotAskedAgain) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_TRUE(ReplaceFile(project_ + "/Makefile",
                          "all:\n\t-curl -s http://example.invalid/; echo built\n", Durable::kNo));
  Script(
      R"({"replies":[{"times":2,"blocks":[{"call":{"name":"Bash","args":{"command":"make"}}}]},{"times":0,"blocks":[{"text":"Done."}]}]})");
  const Ran ran = Stet({"-p", "--permission-mode", "auto", "go"});
  EXPECT_FALSE(Log().contains("was kept from something")) << Log();
  EXPECT_EQ(ran.err.find("refused"), std::string::npos) << ran.err;
}

TEST_F(UnaskedTest, ANewRepositoryInTheProjectIsTold) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_TRUE(ReplaceFile(project_ + "/Makefile", "all:\n\tmkdir -p a/.git/hooks\n", Durable::kNo));
  (void)Ask("make", "auto");
  EXPECT_TRUE(Log().contains("It made a/.git, which other programs obey")) << Log();
}

TEST_F(UnaskedTest, WhatABoxKeptACommandFromIsAFinding) {
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) GTEST_SKIP() << "no sandbox works here";
  ASSERT_TRUE(
      ReplaceFile(project_ + "/Makefile", "all:\n\ttouch /var/tmp/../stet-escape\n", Durable::kNo));
  (void)Ask("make", "auto");
  EXPECT_TRUE(Log().contains(R"("type":"finding_raised")")) << Log();
  EXPECT_TRUE(Log().contains("stet-escape is outside of what commands may write")) << Log();
}

TEST_F(UnaskedTest, ACommandHasNoRightsAtTheHost) {
  const std::string ask = fmt::format(
      "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{}/host.sock\"); "
      "s.sendall(b\"GET /sessions HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: "
      "close\\r\\n\\r\\n\"); "
      "print(s.makefile().read())'",
      program_.home());
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  const Result<Finished> outside =
      Subprocess::Run({.argv = {"bash", "-c", ask}}, Deadline::After(std::chrono::seconds(60)), {});
  ASSERT_TRUE(outside);
  EXPECT_TRUE(outside->out.starts_with("HTTP/1.1 200")) << outside->out << outside->err;
  (void)Ask(ask, "bypass");
  EXPECT_TRUE(Log().contains("a command that stet runs has no rights at its host")) << Log();
  EXPECT_FALSE(Log().contains("HTTP/1.1 200")) << Log();
  EXPECT_EQ(program_.Run({"host", "stop"}).exit_code, 0);
}

TEST_F(UnaskedTest, WithoutASandboxWhatWouldRunUnaskedIsAsked) {
  ASSERT_TRUE(ReplaceFile(project_ + "/a.txt", "alpha\n", Durable::kNo));
  for (const char* mode : {"default", "auto"}) {
    (void)Ask("cat a.txt", mode, "[sandbox]\nenabled = false\n");
    EXPECT_FALSE(Log().contains("alpha")) << mode << Log();
    EXPECT_TRUE(Log().contains("nothing keeps it in here")) << mode << Log();
  }
}

/// A branch that follows another repository's is made, and then cannot say so: half of it.
TEST_F(UnaskedTest, GitThatWritesItsConfigurationIsAskedBeforeAnythingOfItRan) {
  const std::string setup =
      "git init -q -b main ../origin && cd ../origin && git -c user.name=a -c user.email=b@c "
      "commit "
      "-q --allow-empty -m x && cd - && git clone -q ../origin . && git branch old";
  const Result<Finished> made = Subprocess::Run({.argv = {"bash", "-c", setup}, .cwd = project_},
                                                Deadline::After(std::chrono::seconds(60)), {});
  ASSERT_TRUE(made && made->exit_code == 0) << made->err;
  for (const char* line : {"git checkout -qb topic origin/main", "git branch -m old new",
                           "git branch -u origin/main old", "git remote add other ../x"}) {
    (void)Ask(line, "auto");
    EXPECT_TRUE(Log().contains("git writes its configuration")) << line << Log();
  }
  EXPECT_FALSE(Exists(project_ + "/.git/refs/heads/topic"));
  EXPECT_TRUE(Exists(project_ + "/.git/refs/heads/old"));
  if (!sandbox::Choose({}, sandbox::Need::kWhole)) return;
  (void)Ask("git checkout -qb mine main", "auto");
  EXPECT_TRUE(Exists(project_ + "/.git/refs/heads/mine")) << Log();
}

TEST_F(UnaskedTest, ARuleForAToolThatThereIsNotIsAnError) {
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Hi."}]}]})");
  const Ran ran = Stet({"-p", "--disallowed-tools", "Linter(x)", "go"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_TRUE(ran.err.contains("the rule Linter(x) (the command line) is for a tool that there is"))
      << ran.err;
  EXPECT_EQ(Stet({"-p", "--disallowed-tools", "mcp__any__tool,Lint*", "go"}).exit_code, 0);
}

}  // namespace
}  // namespace stet::scenario
