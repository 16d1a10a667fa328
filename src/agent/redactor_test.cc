#include "agent/redactor.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace stet::agent {
namespace {

TEST(RedactorTest, SecretsBecomeTheirNames) {
  const Redactor redactor({{"vault:github", "ghp_0123456789"}, {"vault:db", "hunter22"}});
  EXPECT_EQ(redactor.Clean("a ghp_0123456789 b ghp_0123456789"),
            "a [vault:github] b [vault:github]");
  EXPECT_EQ(redactor.Clean("postgres://u:hunter22@h/"), "postgres://u:[vault:db]@h/");
  EXPECT_EQ(redactor.Clean("nothing"), "nothing");
}

TEST(RedactorTest, ASecretOfManyLinesIsFoundLineByLine) {
  const Redactor redactor(std::map<std::string, std::string>{
      {"vault:pem", "-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n"}});
  EXPECT_EQ(redactor.Clean("  2\tklmnopqrst\n  1\tabcdefghij"),
            "  2\t[vault:pem]\n  1\t[vault:pem]");
}

TEST(RedactorTest, TheLongerOfTwoIsTakenWhole) {
  const Redactor redactor({{"vault:a", "secret-1"}, {"vault:b", "secret-12345"}});
  EXPECT_EQ(redactor.Clean("secret-12345 secret-1"), "[vault:b] [vault:a]");
}

TEST(RedactorTest, WordsAreNoSecrets) {
  EXPECT_TRUE(Redactor(std::map<std::string, std::string>{{"vault:pin", "1234"}}).empty());
  EXPECT_EQ(Redactor().Clean("1234"), "1234");
}

TEST(RedactorTest, ASecretThatIsPartOfItsNameOrOfAnotherEnds) {
  const Redactor own({{"vault:vault:me", "vault:me"}, {"env:KEY", "[vault:x]"}});
  EXPECT_EQ(own.Clean("vault:me vault:me"), "[secret] [secret]");
  const Redactor nested({{"env:secret-one", "secret-one"}, {"b", "[secret]"}});
  EXPECT_EQ(nested.Clean("secret-one"), "[secret]");
}

/// Few letters, so that secrets, names and texts are parts of each other.
std::string FewLetters(Random& random, std::uint64_t most) {
  constexpr std::string_view kLetters = "ab:[]";
  std::string text;
  for (std::uint64_t left = random.Below(most); left > 0; --left)
    text += kLetters[random.Below(kLetters.size())];
  return text;
}

TEST(RedactorTest, WhateverSecretsAreItEndsAndWhatIsBesideThemStays) {
  Random random(17);
  for (int round = 0; round < 20'000; ++round) {
    std::map<std::string, std::string> secrets;
    for (std::uint64_t left = 1 + random.Below(4); left > 0; --left)
      secrets[FewLetters(random, 12)] = FewLetters(random, 14);
    const Redactor redactor(secrets);
    const std::string text = FewLetters(random, 60);
    const std::string clean = redactor.Clean(text);
    // Each place takes at least eight bytes and puts in at most a name in brackets.
    EXPECT_LE(clean.size(), text.size() / Redactor::kLeastBytes * 14 + text.size());
    const bool has = std::ranges::any_of(secrets, [&](const auto& secret) {
      return secret.second.size() >= Redactor::kLeastBytes && text.contains(secret.second);
    });
    if (!has) {
      EXPECT_EQ(clean, text);
    }
  }
}

}  // namespace
}  // namespace stet::agent
