#include "tool/git/blob_id.h"

#include <gtest/gtest.h>

#include "tool/git/git_fixture.h"

namespace stet::tool {
namespace {

TEST(BlobIdTest, IsTheNameThatGitGives) {
  EXPECT_EQ(BlobId("", GitFormat::kSha1), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(BlobId("hello\n", GitFormat::kSha1), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(BlobId("", GitFormat::kSha256),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

TEST(BlobIdTest, Sha1IsThatOfTheStandardHoweverTheBytesCome) {
  Sha1 whole;
  whole.Update("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  EXPECT_EQ(whole.FinishHex(), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  const std::string million(1'000'000, 'a');
  for (const std::size_t piece : {1U, 63U, 64U, 65U, 1'000'000U}) {
    Sha1 hash;
    for (std::size_t at = 0; at < million.size(); at += piece)
      hash.Update(std::string_view(million).substr(at, piece));
    EXPECT_EQ(hash.FinishHex(), "34aa973cd4c4daa4f61eeb2bdbad27316534016f") << piece;
  }
}

class BlobIdOfFilesTest : public GitFixture {};

TEST_F(BlobIdOfFilesTest, IsThatOfAnyLength) {
  std::string names;
  std::string expected;
  std::string text;
  for (int length = 0; length < 200; ++length) {
    const std::string name = std::to_string(length);
    Put(name, text);
    names += name + "\n";
    expected += BlobId(text, GitFormat::kSha1) + "\n";
    text += static_cast<char>(length);
  }
  Put("names", names);
  Git("init -q");
  EXPECT_EQ(Git("hash-object --no-filters --stdin-paths <names"), expected);
}

TEST(IdTest, OnlyAnIdIsOne) {
  EXPECT_TRUE(IsId(std::string(40, 'a'), GitFormat::kSha1));
  EXPECT_FALSE(IsId(std::string(40, 'A'), GitFormat::kSha1));
  EXPECT_FALSE(IsId(std::string(39, 'a') + "\n", GitFormat::kSha1));
  EXPECT_FALSE(IsId(std::string(40, 'a'), GitFormat::kSha256));
}

}  // namespace
}  // namespace stet::tool
