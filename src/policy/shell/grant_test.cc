#include "policy/shell/grant.h"

#include <gtest/gtest.h>

namespace stet::policy {
namespace {

std::string PrefixOf(std::string_view line) {
  return GrantPrefix(AnalyseShell(line, {"/p", "/home/u"}));
}

TEST(GrantPrefixTest, ItIsTheProgramAndWhatItDoes) {
  for (const auto& [line, prefix] :
       {std::pair("npm run test -- --watch", "npm run test"),
        std::pair("npm run test:unit", "npm run test:unit"),
        std::pair("cargo test -p x", "cargo test"), std::pair("pytest -k a tests", "pytest"),
        std::pair("python3 -m pytest -q", "python3 -m pytest"),
        std::pair("make check -j4", "make check"), std::pair("git commit -m 'a b'", "git commit"),
        std::pair("git add src/a.c", "git add"), std::pair("gh pr view 12", "gh pr view"),
        std::pair("ninja -C build", "ninja")})
    EXPECT_EQ(PrefixOf(line), prefix) << line;
}

TEST(GrantPrefixTest, WhatIsDangerousCompoundOrNotKnownIsTakenWhole) {
  for (const char* line : {"rm -rf build",
                           "git push",
                           "git push --force",
                           "git branch -m a b",
                           "docker run x",
                           "npm install x",
                           "unheard-of test",
                           "npm run test && rm x",
                           "npm run test | tail",
                           "npm run test > out",
                           "CC=x make check",
                           "sudo make check",
                           "bash -c 'npm run test'",
                           "cargo run",
                           "go run .",
                           "kubectl delete pod x",
                           "npm run $x",
                           "make",
                           "make -j4",
                           "python3 x.py",
                           "eval \"$x\"",
                           "npx unheard-of",
                           "git -C /q commit -m x",
                           "cd x",
                           ""})
    EXPECT_EQ(PrefixOf(line), "") << line;
}

TEST(GrantPrefixTest, APrefixIsKnownByItsText) {
  for (const char* prefix : {"npm run test", "npm run test:unit", "cargo test", "pytest",
                             "python3 -m pytest", "docker compose logs"})
    EXPECT_TRUE(IsGrantPrefix(prefix)) << prefix;
  for (const char* prefix :
       {"", "npm", "npm run", "npm run test x", "rm", "git push", "docker compose", "npm  run x"})
    EXPECT_FALSE(IsGrantPrefix(prefix)) << prefix;
}

}  // namespace
}  // namespace stet::policy
