#include "base/secrets.h"

#include <array>

#include <gtest/gtest.h>

#include "base/secrets_fixture.h"
#include "json/json.h"

namespace stet {
namespace {

TEST(SecretsTest, SecretsOfFiftyKindsAreMaskedInTextAndInJson) {
  Random random(7);
  std::size_t count = 0;
  for (int round = 0; round < 100; ++round) {
    for (const Planted& one : PlantSecrets(random)) {
      ++count;
      for (const std::string& text :
           {one.text, "line\n" + one.text + "\nline", "x=(" + one.text + ")"}) {
        EXPECT_EQ(MaskSecrets(text).find(one.secret), std::string::npos) << text;
        std::string json = "{\"text\":";
        AppendJsonString(json, text);
        json += "}";
        const std::string masked = MaskSecrets(json);
        EXPECT_EQ(masked.find(one.secret), std::string::npos) << json;
        EXPECT_TRUE(CheckJson(masked)) << masked;
      }
    }
  }
  EXPECT_GE(count, 5000U);
}

TEST(SecretsTest, OrdinaryTextStaysAsItIs) {
  for (const std::string_view text :
       {"", "the password is asked for", "password: $PASSWORD", "tokensBefore: 1234567", "sk-learn",
        "https://example.com/a@b", "key-value store", "-----BEGIN CERTIFICATE-----\nMII", "eyJ",
        "a password:", "git@github.com:a/b.git", "https://user@host/"})
    EXPECT_EQ(MaskSecrets(text), text);
}

TEST(SecretsTest, WhateverTheTextIsMaskingEndsAndTakesOneLookAtEachPlace) {
  constexpr std::array<std::string_view, 16> kPieces = {"password",
                                                        "=",
                                                        ": ",
                                                        "://u:",
                                                        "@",
                                                        "\"",
                                                        "\\",
                                                        "[masked]",
                                                        "-----BEGIN PRIVATE KEY-----",
                                                        "-----END",
                                                        "ghp_",
                                                        "bearer ",
                                                        "sk-",
                                                        "eyJ",
                                                        "\n",
                                                        "abcdefghijklmnopqrstuvwxyz0123456789"};
  Random random(18);
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::uint64_t left = random.Below(40); left > 0; --left)
      text += kPieces[random.Below(kPieces.size())];
    const std::string masked = MaskSecrets(text);
    // A mask takes the place of one byte at least, and has eight.
    EXPECT_LE(masked.size(), 8 * text.size());
    EXPECT_LE(MaskSecrets(masked).size(), 8 * masked.size());
  }
}

TEST(SecretsTest, WhatSaysTheKindStays) {
  EXPECT_EQ(MaskSecrets("a ghp_0123456789012345678901234567890123456 b"), "a ghp_[masked] b");
  EXPECT_EQ(MaskSecrets("postgres://u:secret@h/d"), "postgres://u:[masked]@h/d");
}

}  // namespace
}  // namespace stet
