// The sandbox as sessions and people meet it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "emulator/emulator.h"
#include "json/view.h"
#include "sandbox/support.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    // In a chroot, for one, nothing can keep a command in wholly; the ways out are tested apart.
    const auto whole = sandbox::Choose({}, sandbox::Need::kWhole);
    if (!whole) GTEST_SKIP() << whole.error().message;
  }

  /// A model that calls Bash once, and then has done.
  void Play(const std::string& args, const std::string& settings) {
    auto started =
        emulator::Emulator::Start(R"({"replies":[{"blocks":[{"call":{"name":"Bash","args":)" +
                                  args + R"(}}]},{"times":0,"blocks":[{"text":"Done."}]}]})");
    ASSERT_TRUE(started) << started.error().Text();
    emulator_ = *std::move(started);
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                            "[model]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='" +
                                emulator_->base_url() + "'\n" + settings,
                            Durable::kNo));
  }
  /// The log of the one session that there is.
  [[nodiscard]] std::string Log() const {
    const auto sessions = ListDir(program_.home() + "/sessions").value();
    return ReadFile(program_.SessionDir(sessions.at(0).name) + "/events.jsonl").value();
  }

  Program program_;
  std::unique_ptr<emulator::Emulator> emulator_;
};

TEST_F(SandboxTest, ACommandInModeAutoIsKeptInAndTheLogSaysByWhat) {
  Play(R"({"command":"ls >listed; ls"})", "");
  const Ran ran =
      program_.Run({"-p", "--permission-mode", "auto", "--allowed-tools", "Bash(ls *)", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  Play(R"({"command":"ls"})", "");
  EXPECT_EQ(program_.Run({"-p", "--permission-mode", "auto", "--allowed-tools", "Bash", "-c", "go"})
                .exit_code,
            0);
  EXPECT_NE(Log().find(R"("sandbox":{"mechanism":")"), std::string::npos) << Log();
  EXPECT_NE(Log().find(R"("network":"hosts"})"), std::string::npos) << Log();
}

TEST_F(SandboxTest, ABlockedAttemptIsExplainedToTheModel) {
  Play(R"({"command":"touch /var/outside"})", "[sandbox]\nenabled = true\n");
  EXPECT_EQ(program_.Run({"-p", "--allowed-tools", "Bash", "go"}).exit_code, 0);
  EXPECT_NE(Log().find("(The sandbox: /var/outside is outside of what commands may write"),
            std::string::npos)
      << Log();
  EXPECT_FALSE(Exists("/var/outside"));
}

TEST_F(SandboxTest, AWayOutIsAskedWhateverIsAllowed) {
  Play(R"({"command":"touch ../outside","dangerouslyDisableSandbox":true})",
       "[sandbox]\nenabled = true\n");
  (void)program_.Run({"-p", "--allowed-tools", "Bash", "go"});
  EXPECT_NE(Log().find("it would run without the sandbox"), std::string::npos) << Log();
  EXPECT_FALSE(Exists(program_.work() + "/../outside"));
}

TEST_F(SandboxTest, WhenItIsRequiredAndNoneWorksNothingRuns) {
  Play(R"({"command":"touch made"})", "[sandbox]\nrequired = true\n");
  SpawnOptions options = program_.Options({"-p", "--allowed-tools", "Bash", "go"});
  options.env->emplace_back("STET_SANDBOX=landlock-alone");
  ASSERT_TRUE(Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(60)), {}));
  EXPECT_NE(Log().find("[sandbox] required = true, and no sandbox works here"), std::string::npos)
      << Log();
  EXPECT_FALSE(Exists(program_.work() + "/made"));
}

TEST_F(SandboxTest, WhatIsExcludedIsHiddenFromCommandsOfModeAutoOrTheyAreAsked) {
  const std::string word = "open-sesame-4711";
  ASSERT_TRUE(MakeDirs(program_.work() + "/deep"));
  ASSERT_TRUE(ReplaceFile(program_.work() + "/.stetignore", "*.csv\n", Durable::kNo));
  for (const char* name : {"/a.csv", "/deep/b.csv"})
    ASSERT_TRUE(ReplaceFile(program_.work() + name, word, Durable::kNo));
  ASSERT_TRUE(ReplaceFile(program_.work() + "/open.txt", "anybody\n", Durable::kNo));
  const std::string all =
      R"({"command":"python3 -c 'import glob;[print(f, open(f).read()) for f in )"
      R"(glob.glob(\"**/*.*\", recursive=True)]'; grep -r sesame . ; echo end-of-it"})";
  Play(all, "");
  const std::vector<std::string> go{"-p", "--permission-mode", "auto", "go"};
  EXPECT_EQ(program_.Run(go).exit_code, 0);
  EXPECT_TRUE(Log().contains("end-of-it\\n")) << "it was not asked: " << Log();
  EXPECT_TRUE(Log().contains("open.txt anybody")) << Log();
  EXPECT_FALSE(Log().contains(word)) << Log();

  // Too many to be hidden: then it is asked, and no person is there to answer.
  for (int i = 0; i < 250; ++i)
    ASSERT_TRUE(ReplaceFile(fmt::format("{}/deep/{}.csv", program_.work(), i), word, Durable::kNo));
  Play(all, "");
  EXPECT_EQ(program_.Run({"-p", "--permission-mode", "auto", "-c", "go"}).exit_code, 0);
  EXPECT_TRUE(Log().contains("it may read what is excluded")) << Log();
  EXPECT_FALSE(Log().contains(word)) << Log();
}

TEST_F(SandboxTest, TheDoctorSaysWhatIsEnforced) {
  const Ran ran = program_.Run({"doctor"});
  EXPECT_NE(ran.out.find("sandbox "), std::string::npos) << ran.out;
  bool named = false;
  for (const sandbox::Tried& tried : sandbox::TryAll())
    named = named || ran.out.contains(sandbox::MechanismName(tried.mechanism));
  EXPECT_TRUE(named) << ran.out;
}

TEST_F(SandboxTest, TheVerbRunsAnythingAndNamesTheHostsThatItRefused) {
  EXPECT_EQ(program_.Run({"sandbox", "--", "bash", "-c", "cat; exit 3"}, "in").exit_code, 3);
  EXPECT_EQ(program_.Run({"sandbox", "--", "cat"}, "in").out, "in");
  const std::string ask =
      "p=${http_proxy#http://}; exec 3<>/dev/tcp/${p%:*}/${p#*:}; "
      "printf 'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3";
  const Ran ran = program_.Run({"sandbox", "--network", "hosts", "--", "bash", "-c", ask});
  EXPECT_NE(ran.out.find("403 Forbidden"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.err, "stet: the sandbox refused evil.example:443; [sandbox] hosts allows it\n");
  EXPECT_EQ(program_.Run({"sandbox"}).exit_code, 2);
  EXPECT_EQ(program_.Run({"sandbox", "--network", "on", "--", "true"}).exit_code, 2);
}

}  // namespace
}  // namespace stet::scenario
