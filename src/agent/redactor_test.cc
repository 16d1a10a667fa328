#include "agent/redactor.h"

#include <gtest/gtest.h>

namespace stet::agent {
namespace {

TEST(RedactorTest, SecretsBecomeTheirNames) {
  const Redactor redactor({{"github", "ghp_0123456789"}, {"db", "hunter22"}});
  EXPECT_EQ(redactor.Clean("a ghp_0123456789 b ghp_0123456789"),
            "a [vault:github] b [vault:github]");
  EXPECT_EQ(redactor.Clean("postgres://u:hunter22@h/"), "postgres://u:[vault:db]@h/");
  EXPECT_EQ(redactor.Clean("nothing"), "nothing");
}

TEST(RedactorTest, ASecretOfManyLinesIsFoundLineByLine) {
  const Redactor redactor(std::map<std::string, std::string>{
      {"pem", "-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----\n"}});
  EXPECT_EQ(redactor.Clean("  2\tklmnopqrst\n  1\tabcdefghij"),
            "  2\t[vault:pem]\n  1\t[vault:pem]");
}

TEST(RedactorTest, TheLongerOfTwoIsTakenWhole) {
  const Redactor redactor({{"a", "secret-1"}, {"b", "secret-12345"}});
  EXPECT_EQ(redactor.Clean("secret-12345 secret-1"), "[vault:b] [vault:a]");
}

TEST(RedactorTest, WordsAreNoSecrets) {
  EXPECT_TRUE(Redactor(std::map<std::string, std::string>{{"pin", "1234"}}).empty());
  EXPECT_EQ(Redactor().Clean("1234"), "1234");
}

}  // namespace
}  // namespace stet::agent
