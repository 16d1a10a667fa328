// Boxes: what a command that runs unasked is kept to, tried through the real program under every
// mechanism that the machine has. Whatever the analysis says of a line, in the box for what only
// reads it has no effect and sees no key.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "base/text.h"
#include "json/writer.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"
#include "tests/scenario/program.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

using sandbox::Mechanism;

constexpr std::string_view kSecretText = "open-sesame-4711";

/// As a shell takes it for one word.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

class BoxTest : public testing::TestWithParam<Mechanism> {
 protected:
  void SetUp() override {
    for (const sandbox::Tried& tried : sandbox::TryAll()) {
      if (tried.mechanism == GetParam() && !tried.works)
        GTEST_SKIP() << "not active: " << tried.why_not;
    }
    for (const char* folder : {"project/src", "project/.git/hooks", "user/.ssh", "other"})
      ASSERT_TRUE(MakeDirs(At(folder)));
    ASSERT_TRUE(MakeDirs(program_.home()));
    Put("project/.git/config", "[core]\n");
    Put("project/.git/HEAD", "ref: refs/heads/main\n");
    Put("project/src/run.sh", "#!/bin/sh\ntouch made\n");
    ASSERT_EQ(::chmod(At("project/src/run.sh").c_str(), 0755), 0);
    Put("project/src/a.txt", "alpha\nbeta\n");
    Put("project/secret.csv", std::string(kSecretText));
    Put("project/.stetignore", "*.csv\n");
    Put("user/.ssh/id_ed25519", std::string(kSecretText));
    Put("user/notes", std::string(kSecretText));
    Put("user/.gitconfig", "[alias]\nst = status\n");
    Put("other/file", std::string(kSecretText));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/vault", kSecretText, Durable::kNo));
  }

  [[nodiscard]] std::string At(const std::string& name) const { return apart_.Sub(name); }
  void Put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(ReplaceFile(At(name), text, Durable::kNo));
  }

  [[nodiscard]] Finished Run(const std::string& box, const std::string& line) const {
    SpawnOptions options = program_.Options({"sandbox", "--box", box, "--", "bash", "-c", line});
    for (const std::string& variable :
         {fmt::format("STET_SANDBOX={}", sandbox::MechanismName(GetParam())), "HOME=" + At("user"),
          fmt::format("MY_API_KEY={}", kSecretText),
          fmt::format("HARMLESS_LOOKING={}", kSecretText)})
      options.env->push_back(variable);
    options.cwd = At("project");
    options.merge_stderr = true;
    const Result<Finished> finished =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {});
    EXPECT_TRUE(finished) << finished.error().Text();
    return finished ? *finished : Finished();
  }
  [[nodiscard]] std::string Read(const std::string& line) const { return Run("reads", line).out; }

  /// Every file below, with its mode, time and content.
  [[nodiscard]] std::string Tree(const std::string& folder) const {
    std::string all;
    const Result<std::vector<DirEntry>> entries = ListDir(folder);
    if (!entries) return all;
    std::vector<std::string> names;
    for (const DirEntry& entry : *entries) names.push_back(entry.name);
    std::ranges::sort(names);
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      struct stat facts{};
      ::lstat(path.c_str(), &facts);
      all += fmt::format("{} {:o} {} {}\n", path, facts.st_mode, facts.st_mtim.tv_sec,
                         ReadFile(path).value_or(""));
      if (S_ISDIR(facts.st_mode)) all += Tree(path);
    }
    return all;
  }

  Program program_;
  sandbox::ApartDir apart_;
};

INSTANTIATE_TEST_SUITE_P(, BoxTest, testing::ValuesIn(sandbox::kMechanisms), [](const auto& one) {
  std::string name(sandbox::MechanismName(one.param));
  std::erase(name, '-');
  return name;
});

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

/// The lines of an attack, as they are; whatever they would do outside, here they do nothing.
TEST_P(BoxTest, NoHostileLineHasAnEffect) {
  const std::string before = Tree(apart_.path());
  const std::string lines = ReadFile(SourceDir() + "/tests/data/box_commands.txt").value_or("");
  ASSERT_FALSE(lines.empty());
  // All in one command, each in a shell of its own and not for long, but for those that would end
  // the others.
  std::string script;
  std::size_t count = 0;
  for (const std::string_view line : SplitLines(lines)) {
    if (line.empty() || line.starts_with('#')) continue;
    ++count;
    if (line.contains("kill")) {
      (void)Run("reads", std::string(line));
      continue;
    }
    script += fmt::format("timeout 2 bash -c {} </dev/null >/dev/null 2>&1\n", Quoted(line));
  }
  EXPECT_GT(count, 80U);
  EXPECT_EQ(Run("reads", script + "echo through").out, "through\n");
  EXPECT_EQ(Tree(apart_.path()), before);
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

}  // namespace
}  // namespace stet::scenario
