#include "base/hash.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"

namespace stet {
namespace {

constexpr std::string_view kSha256OfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view kSha256OfAMillionA =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

std::string Pattern(unsigned size) {
  std::string bytes;
  for (unsigned i = 0; i < size; ++i) bytes += static_cast<char>(i * 31 + (i >> 8) * 7);
  return bytes;
}

TEST(FastHash, IsXxh3) {
  EXPECT_EQ(FastHash(""), 0x2d06800538d394c2u);
  EXPECT_EQ(FastHash("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(FastHash(Pattern(6000)), 0x3566b2f28ddbeb00u);
}

TEST(FastHash, IsXxh3AtEveryLength) {
  // The sum was made by the system's libxxhash: whichever instructions this machine uses, stored
  // hashes stay good.
  const std::string bytes = Pattern(6000);
  std::uint64_t all = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    all = all * 0x9e3779b97f4a7c15 + FastHash(std::string_view(bytes).substr(0, size));
  EXPECT_EQ(all, 0x66639942ab955c74u);
}

TEST(FastHash, DoesNotDependOnAlignment) {
  const std::string bytes = Pattern(2000);
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const std::string moved = std::string(shift, ' ') + bytes;
    EXPECT_EQ(FastHash(std::string_view(moved).substr(shift)), FastHash(bytes));
  }
}

TEST(FastHash, HexHasSixteenDigits) {
  EXPECT_EQ(FastHashHex("abc"), "78af5f94892f3950");
  std::string out = "x";
  AppendHex64(out, 0xab);
  EXPECT_EQ(out, "x00000000000000ab");
}

TEST(Sha256, KnowsItsTestVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), kSha256OfAbc);
}

TEST(Sha256, PiecesGiveTheHashOfTheWhole) {
  Sha256 hash;
  hash.Update("a");
  hash.Update("");
  hash.Update("bc");
  EXPECT_EQ(hash.FinishHex(), kSha256OfAbc);
}

TEST(Sha256, HashesAFileLargerThanItsBuffer) {
  const TempDir dir;
  ASSERT_TRUE(ReplaceFile(dir.Sub("file"), std::string(1'000'000, 'a'), Durable::kNo));
  EXPECT_EQ(Sha256File(dir.Sub("file")), kSha256OfAMillionA);
}

TEST(Sha256, AFileThatCannotBeReadIsAnError) {
  const TempDir dir;
  EXPECT_EQ(Sha256File(dir.Sub("none")).error().code, Code::kNotFound);
  EXPECT_EQ(Sha256File(dir.path()).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet
