// What rules deny, and what is excluded, is kept from commands that run in no box too: those that a
// person allowed. Tried through the real program under every mechanism that the machine has.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fs.h"
#include "json/writer.h"
#include "sandbox/apart_dir_fixture.h"
#include "sandbox/support.h"
#include "tests/scenario/box_fixture.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

using sandbox::Mechanism;

sandbox::Profile Hiding() {
  sandbox::Profile profile;
  profile.only_hides = true;
  return profile;
}

class DeniedTest : public ScriptedTest, public testing::WithParamInterface<Mechanism> {
 protected:
  void SetUp() override {
    const std::string name(sandbox::MechanismName(GetParam()));
    ::setenv(sandbox::kMechanismVariable, name.c_str(), 1);
    const auto works = sandbox::Choose(Hiding(), sandbox::Need::kWhole);
    ::unsetenv(sandbox::kMechanismVariable);
    if (!works) GTEST_SKIP() << works.error().message;
    for (const char* folder : {"/hidden/deep", "/src"}) ASSERT_TRUE(MakeDirs(project_ + folder));
    for (const char* file : {"/secret.txt", "/hidden/deep/a", "/data.csv", "/src/b.csv"})
      ASSERT_TRUE(ReplaceFile(project_ + file, kSecretText, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(apart_.Sub("far"), kSecretText, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(project_ + "/src/locked", "as it was\n", Durable::kNo));
    ASSERT_TRUE(ReplaceFile(project_ + "/.stetignore", "*.csv\nhidden/\n", Durable::kNo));
  }

  /// On this machine.
  Fd Listen() {
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), any, size), 0);
    EXPECT_EQ(::listen(listener.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
    port_ = ntohs(address.sin_port);
    return listener;
  }

  /// In that mode, under rules that deny and these that allow; what the log has of it.
  std::string Try(const std::string& line, const std::string& mode = "bypass",
                  const std::string& allow = "") {
    std::string call;
    AppendJsonString(call, line);
    Script(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":{"command":)" + call +
               R"(}}}]},{"times":0,"blocks":[{"text":"Done."}]}]})",
           fmt::format("[policy]\ndeny = ['Read(secret.txt)', 'Read(/{})'{}]\n", apart_.Sub("far"),
                       more_rules_));
    std::vector<std::string> arguments{"--cwd", project_, "-p", "--permission-mode", mode};
    if (!allow.empty()) arguments.insert(arguments.end(), {"--allowed-tools", allow});
    arguments.emplace_back("go");
    SpawnOptions options = program_.Options(std::move(arguments));
    options.env->push_back(fmt::format("STET_SANDBOX={}", sandbox::MechanismName(GetParam())));
    const Result<Finished> ran =
        Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {});
    EXPECT_TRUE(ran) << ran.error().Text();
    const Result<std::vector<DirEntry>> sessions = ListDir(program_.home() + "/sessions");
    std::string log;
    for (const DirEntry& session : sessions.value_or(std::vector<DirEntry>()))
      log += ReadFile(program_.SessionDir(session.name) + "/events.jsonl").value_or("");
    EXPECT_TRUE(RemoveTree(program_.home() + "/sessions"));
    return log;
  }

  sandbox::ApartDir apart_;
  std::string more_rules_;
  int port_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, DeniedTest,
                         testing::Values(Mechanism::kNamespaces, Mechanism::kBubblewrap),
                         MechanismText);

TEST_P(DeniedTest, NoProgramReadsItWhateverTheAnalysisKnowsOfIt) {
  for (const std::string& line :
       {std::string("perl -pe1 s*t.txt"),
        std::string("python3 -c \"print(open('sec' + 'ret.txt').read())\""),
        std::string("curl -s file://$PWD/secret.txt"),
        std::string("x=secret; cat $x.txt"),
        std::string("cat $(echo c2VjcmV0LnR4dA== | base64 -d)"),
        std::string("eval \"$(echo cat s)ecret.txt\""),
        std::string("find . -type f -exec cat {} +"),
        std::string("tar cf - . 2>/dev/null | tar xOf -"),
        std::string("cat */* */*/*"),
        std::string("mv hidden seen && cat seen/deep/a; mv seen hidden"),
        std::string("cp -r . ../copy; cat ../copy/*"),
        std::string("cat /proc/self/root$PWD/data.csv"),
        std::string("cat /proc/*/root$PWD/secret.tx?"),
        std::string("umount $PWD/data.csv; umount -l hidden; cat data.c* hidden/*/*"),
        std::string("unshare -rm sh -c 'umount data.csv; umount hidden; cat *.csv hidden/*/*'"),
        std::string("unshare -m sh -c 'umount data.csv; umount hidden; cat *.csv hidden/*/*'"),
        std::string("nsenter -t 1 -m cat $PWD/secret.tx?"),
        std::string("nsenter -t $PPID -m cat $PWD/secret.tx?"),
        std::string("ln data.csv other; cat other; ln -s $PWD/data.csv link; cat link"),
        std::string("rm -f data.csv; cat data.csv"),
        fmt::format("cat {}", apart_.Sub("f*")),
        std::string("for f in /dev/[sv]d*; do grep -a -o -m1 " + std::string("open-sesame") +
                    " $f; done")}) {
    // Behind a program of the project's, of which the analysis knows nothing: else it would refuse
    // many of them.
    std::string quoted;
    AppendJsonString(quoted, line);
    ASSERT_TRUE(ReplaceFile(
        project_ + "/go.py",
        fmt::format("import os\nos.system({})\nprint('thr' + 'ough')\n", quoted), Durable::kNo));
    const std::string log = Try("python3 go.py");
    EXPECT_TRUE(log.contains("through")) << line << "\n" << log;
    EXPECT_TRUE(log.contains(R"("only":"hides")")) << line << "\n" << log;
    EXPECT_FALSE(log.contains(kSecretText)) << line << "\n" << log;
  }
  for (const char* file : {"/secret.txt", "/hidden/deep/a", "/data.csv", "/src/b.csv"})
    EXPECT_EQ(ReadFile(project_ + file).value_or("gone"), kSecretText) << file;
}

TEST_P(DeniedTest, NoRuleAllowsItEither) {
  const std::string log =
      Try("python3 -c \"print(open('sec' + 'ret.txt').read())\"", "default", "Bash(python3 *)");
  EXPECT_TRUE(log.contains(R"("only":"hides")")) << log;
  EXPECT_FALSE(log.contains(kSecretText)) << log;
}

TEST_P(DeniedTest, WhatMayNotBeChangedStaysAsItIs) {
  more_rules_ = ", 'Edit(src/locked)'";
  for (const char* line : {"echo x >src/l*ked", "python3 -c \"open('src/loc' + 'ked', 'w')\"",
                           "cd src; rm -f *ed", "cd src; mv *ed gone", "truncate -s0 src/*"})
    (void)Try(line);
  EXPECT_EQ(ReadFile(project_ + "/src/locked").value_or("gone"), "as it was\n");
}

TEST_P(DeniedTest, NothingElseIsTakenAway) {
  const Fd listener = Listen();
  const std::string log = Try(fmt::format(
      "set -e; echo new >made; cat made; mkdir -p a/b; echo x >a/b/c; mv a d; cat d/b/c; echo y "
      ">{}; "
      "id -u; echo TMP=$TMPDIR; exec 3<>/dev/tcp/127.0.0.1/{}; sleep 1000 & kill $!; echo all-done",
      apart_.Sub("written"), port_));
  EXPECT_TRUE(log.contains("all-done")) << log;
  EXPECT_TRUE(log.contains(R"("only":"hides")")) << log;
  EXPECT_EQ(ReadFile(project_ + "/d/b/c").value_or(""), "x\n");
  EXPECT_EQ(ReadFile(apart_.Sub("written")).value_or(""), "y\n");
  EXPECT_TRUE(log.contains(fmt::format("\\n{}\\n", ::geteuid()))) << log;
}

/// Where it looked empty, git would commit that.
TEST_P(DeniedTest, GitDoesNotCommitWhatItCannotSee) {
  const auto git = [&](const std::string& line) {
    const Result<Finished> ran = Subprocess::Run({.argv = {"bash", "-c", line}, .cwd = project_},
                                                 Deadline::After(std::chrono::seconds(60)), {});
    return ran ? ran->out : "";
  };
  (void)git(
      "git init -q . && git add -A && git -c user.name=a -c user.email=b@c commit -qm one && git "
      "config user.name a && git config user.email b@c");
  const std::string log = Try("echo x >src/new; git add -A; git commit -qam two; echo ended");
  EXPECT_TRUE(log.contains("ended")) << log;
  EXPECT_EQ(git("git show HEAD:data.csv"), kSecretText);
  EXPECT_EQ(git("git show HEAD:src/b.csv"), kSecretText);
  // Root looks into a folder that nobody may open, and finds it empty.
  if (::geteuid() != 0) {
    EXPECT_EQ(git("git show HEAD:hidden/deep/a"), kSecretText);
  }
}

TEST_P(DeniedTest, WithNothingDeniedNothingIsPaid) {
  for (const char* file : {"/secret.txt", "/data.csv", "/src/b.csv", "/src/locked"})
    ASSERT_EQ(::unlink((project_ + file).c_str()), 0);
  ASSERT_TRUE(RemoveTree(project_ + "/hidden"));
  ASSERT_EQ(::unlink((apart_.Sub("far")).c_str()), 0);
  EXPECT_FALSE(Try("echo x").contains(R"("only":"hides")"));
}

}  // namespace
}  // namespace stet::scenario
