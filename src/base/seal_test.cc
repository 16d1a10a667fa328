#include "base/seal.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(SealTest, WhoHasTheKeyReadsIt) {
  const std::string key = NewSealKey();
  for (const std::string text : {"", "a", "a longer text with \xE6\x96\x87"}) {
    const std::string sealed = Seal(text, key);
    EXPECT_EQ(Unseal(sealed, key).value_or("?"), text);
    EXPECT_NE(Seal(text, key), sealed);
    if (text.size() > 2) {
      EXPECT_EQ(sealed.find(text), std::string::npos);
    }
  }
}

TEST(SealTest, NobodyElseDoesAndAChangeIsNoticed) {
  const std::string key = NewSealKey();
  std::string sealed = Seal("a secret", key);
  EXPECT_EQ(Unseal(sealed, NewSealKey()).error().code, Code::kCorrupt);
  EXPECT_EQ(Unseal("", key).error().code, Code::kCorrupt);
  EXPECT_EQ(Unseal(sealed, "short").error().code, Code::kCorrupt);
  for (char& byte : sealed) {
    byte = static_cast<char>(byte ^ 1);
    EXPECT_FALSE(Unseal(sealed, key));
    byte = static_cast<char>(byte ^ 1);
  }
}

}  // namespace
}  // namespace stet
