#include "sandbox/blocked.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace stet::sandbox {
namespace {

class BlockedTest : public testing::Test {
 protected:
  BlockedTest() {
    profile_.writable = {"/p"};
    profile_.read_only = {"/p/.git/hooks"};
    profile_.hidden = {"/h/.ssh"};
    profile_.network = network::kOff;
  }
  std::string Explain(std::string_view output, int exit_code = 1) const {
    return ExplainBlocked(
        {.profile = profile_, .cwd = "/p/src", .output = output, .exit_code = exit_code});
  }
  /// The first line only.
  std::string First(std::string_view output) const {
    const std::string text = Explain(output);
    return text.substr(0, text.find('\n'));
  }

  Profile profile_;
};

TEST_F(BlockedTest, AWriteOutsideIsToldWithItsPath) {
  EXPECT_EQ(First("touch: cannot touch '/etc/x': Read-only file system\n"),
            "(The sandbox: /etc/x is outside of what commands may write ([sandbox] write adds "
            "folders).)");
  EXPECT_EQ(First("Error: EACCES: open ../../out/f"),
            "(The sandbox: /out/f is outside of what commands may write ([sandbox] write adds "
            "folders).)");
  EXPECT_NE(Explain("a '/etc/x': Permission denied").find("dangerouslyDisableSandbox"),
            std::string::npos);
}

TEST_F(BlockedTest, AFileInTheWorkingDirectoryIsNamedWithoutASlash) {
  profile_.writable = {};
  const std::string told =
      "(The sandbox: /p/src/made is outside of what commands may write ([sandbox] write adds "
      "folders).)";
  EXPECT_EQ(First("touch: cannot touch 'made': Read-only file system\n"), told);
  EXPECT_EQ(First("bash: line 1: made: Permission denied\n"), told);
  EXPECT_EQ(First("a word: two words: Permission denied\n"), "");
}

TEST_F(BlockedTest, WhatIsProtectedAndWhatIsHiddenAreToldApart) {
  EXPECT_EQ(First("/p/.git/hooks/pre-commit: Read-only file system"),
            "(The sandbox: /p/.git/hooks/pre-commit is protected: commands may not change it.)");
  EXPECT_EQ(First("cat: /h/.ssh/id: No such file or directory"),
            "(The sandbox: /h/.ssh/id is hidden from commands.)");
}

TEST_F(BlockedTest, ErrorsOfTheCommandsOwnAreNotOurs) {
  EXPECT_EQ(Explain("cat: /p/x: Permission denied\ncat: /q: No such file or directory\n"), "");
  EXPECT_EQ(Explain("make: *** [all] Error 1\n"), "");
  EXPECT_EQ(Explain("touch: cannot touch '/etc/x': Read-only file system\n", 0), "");
}

TEST_F(BlockedTest, AMissingNetworkIsToldUnlessItIsOpen) {
  const std::string output = "curl: (6) Could not resolve host: a.org\n";
  EXPECT_EQ(First(output), "(The sandbox: there is no network ([sandbox] network = \"off\").)");
  profile_.network = network::kOpen;
  EXPECT_EQ(Explain(output), "");
}

TEST_F(BlockedTest, AServerOfThisMachineIsNotInTheCommandsLoopback) {
  profile_.network = network::kHosts;
  EXPECT_TRUE(First("curl: (7) Failed to connect to localhost port 8123 after 0 ms\n")
                  .contains("commands have a loopback of their own"));
  EXPECT_EQ(Explain("connect to db.example.com: Connection refused\n"), "");
}

TEST_F(BlockedTest, RefusedHostsAreToldAlsoAfterSuccess) {
  const std::string text = ExplainBlocked({.profile = profile_,
                                           .cwd = "/p",
                                           .output = "",
                                           .exit_code = 0,
                                           .refused_hosts = {"a.org:443"}});
  EXPECT_TRUE(text.starts_with("(The sandbox: a.org:443 is not among the hosts")) << text;
}

TEST_F(BlockedTest, OnlyAFewAreToldAndEachOnce) {
  std::string output;
  for (int i = 0; i < 9; ++i)
    output += "/x" + std::to_string(i / 2) + "/f: Read-only file system\n";
  const std::string text = Explain(output);
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
}

TEST(BlockedReadTest, WhatACommandThatOnlyReadsWasKeptFromIsNamed) {
  Profile profile;
  profile.readable = {"/usr", "/p"};
  const auto explain = [&](std::string_view output) {
    return ExplainBlocked({.profile = profile, .cwd = "/p", .output = output, .exit_code = 1});
  };
  EXPECT_TRUE(
      explain("bash: ./made: Read-only file system").contains("writing /p/made was prevented"));
  EXPECT_TRUE(explain("cat: /home/u/.ssh/id: Permission denied")
                  .contains("reading /home/u/.ssh/id was prevented"));
  EXPECT_TRUE(explain("bash: ./made: Read-only file system").contains("Call it again"));
  EXPECT_EQ(explain("grep: no match in /p/x"), "");
}

TEST_F(BlockedTest, MemoryThatAProcessDidNotGetIsTold) {
  Profile profile;
  profile.readable = {"/usr"};
  profile.limits.data_bytes = std::int64_t{2} << 30;
  const std::string said =
      ExplainBlocked({.profile = profile,
                      .cwd = "/p",
                      .output = "bash: xmalloc: cannot allocate 18446744071562067968 bytes\n",
                      .exit_code = 2,
                      .refused_hosts = {}});
  EXPECT_NE(said.find("may fill 2048 MB of memory"), std::string::npos) << said;
}

TEST_F(BlockedTest, WhereOnlyFilesAreHiddenNothingElseIsToBlame) {
  Profile profile;
  profile.only_hides = true;
  profile.hidden = {"/p/secret"};
  profile.read_only = {"/p/locked"};
  const auto said = [&](std::string_view output) {
    return ExplainBlocked(
        {.profile = profile, .cwd = "/p", .output = output, .exit_code = 1, .refused_hosts = {}});
  };
  EXPECT_EQ(said("cat: secret: No such device or address\n"),
            "(The sandbox: /p/secret is hidden from commands.)\n");
  EXPECT_EQ(said("cat: secret: Permission denied\n"),
            "(The sandbox: /p/secret is hidden from commands.)\n");
  EXPECT_EQ(said("touch: cannot touch 'locked': Read-only file system\n"),
            "(The sandbox: /p/locked may not be changed: a rule denies it.)\n");
  EXPECT_EQ(said("touch: cannot touch '/etc/x': Permission denied\n"), "");
  EXPECT_EQ(said("curl: (6) Could not resolve host: x\n"), "");
}

}  // namespace
}  // namespace stet::sandbox
