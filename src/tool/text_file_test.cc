#include "tool/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/random.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

using std::string_literals::operator""s;

TEST(TextFileTest, EveryEncodingComesBackToTheByte) {
  const std::string text = "a\r\n\u00e9\u4e2d\U0001F600\nend";
  for (const Encoding encoding :
       {Encoding::kUtf8, Encoding::kUtf8WithMark, Encoding::kUtf16Le, Encoding::kUtf16Be}) {
    const std::string bytes = EncodeText(text, encoding);
    const TextFile file = DecodeText(bytes);
    EXPECT_EQ(file.encoding, encoding);
    EXPECT_TRUE(file.exact);
    EXPECT_EQ(file.text, text);
    EXPECT_EQ(EncodeText(file.text, file.encoding), bytes);
  }
}

TEST(TextFileTest, WhatSaysThatItIsExactIsForAnyBytes) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    if (random.Below(3) == 0) bytes = random.Below(2) == 0 ? "\xFF\xFE" : "\xFE\xFF";
    if (random.Below(8) == 0) bytes = "\xEF\xBB\xBF";
    for (std::uint64_t i = random.Below(12); i > 0; --i)
      bytes +=
          static_cast<char>(random.Below(3) == 0 ? random.Below(256) : 0xD0 + random.Below(16));
    const TextFile file = DecodeText(bytes);
    if (file.exact) {
      EXPECT_EQ(EncodeText(file.text, file.encoding), bytes);
    }
  }
}

TEST(TextFileTest, ANulNearTheStartIsBinary) {
  EXPECT_TRUE(DecodeText("a\0b"s).binary);
  EXPECT_TRUE(DecodeText("\xFF\xFE\0\0"s).binary);
  EXPECT_FALSE(DecodeText(std::string(9000, 'a') + "\0"s).binary);
  EXPECT_FALSE(DecodeText("").binary);
}

TEST(TextFileTest, BadBytesAreShownAndSaidToBeInexact) {
  const TextFile file = DecodeText("caf\xE9!");
  EXPECT_FALSE(file.exact);
  EXPECT_EQ(file.text, "caf\uFFFD!");
  EXPECT_FALSE(DecodeText("\xFF\xFE\x00\xD8"s).exact) << "a lone surrogate";
  EXPECT_FALSE(DecodeText("\xFF\xFE\x41"s).exact) << "half a unit";
}

TEST(TextFileTest, PlacesInLfTextAreFoundInTheOriginal) {
  const std::string original = "a\r\nb\nc\rd\r\n";
  const LfText lf(original);
  EXPECT_EQ(lf.text(), "a\nb\nc\rd\n");
  EXPECT_EQ(lf.InOriginal(0), 0U);
  EXPECT_EQ(lf.InOriginal(1), 1U) << "before the line end";
  EXPECT_EQ(lf.InOriginal(2), 3U) << "behind it";
  EXPECT_EQ(lf.InOriginal(lf.text().size()), original.size());
  EXPECT_TRUE(lf.CrLfNear(0));
  EXPECT_FALSE(lf.CrLfNear(2));
  EXPECT_TRUE(lf.CrLfNear(lf.text().size()));
  EXPECT_FALSE(LfText("abc").CrLfNear(0));
}

TEST(TextFileTest, LineEndsAreConvertedOnce) {
  EXPECT_EQ(ToCrLf("a\nb\r\nc"), "a\r\nb\r\nc");
  EXPECT_EQ(ToLf("a\r\nb\nc\r"), "a\nb\nc\r");
  EXPECT_TRUE(MostlyCrLf("a\r\nb\r\nc\n"));
  EXPECT_FALSE(MostlyCrLf("a\r\nb\n"));
  EXPECT_FALSE(MostlyCrLf(""));
}

TEST(TextFileTest, AFinalLineEndStartsNoLine) {
  EXPECT_EQ(SplitLines("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(SplitLines("a\n"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(SplitLines("").empty());
}

TEST(TextFileTest, OnlyRegularFilesAreReadAndNothingBlocks) {
  const TempDir temp;
  ASSERT_EQ(::mkfifo(temp.Sub("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mknod(temp.Sub("socket").c_str(), S_IFSOCK | 0600, 0), 0);
  for (const std::string& path :
       {temp.Sub("fifo"), temp.Sub("socket"), temp.path(), std::string("/dev/zero")}) {
    const auto read = ReadRegularFile(path, 100);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, Code::kInvalid) << read.error().Text();
  }
  EXPECT_EQ(ReadRegularFile(temp.Sub("none"), 100).error().code, Code::kNotFound);
  ASSERT_TRUE(ReplaceFile(temp.Sub("big"), std::string(101, 'x'), Durable::kNo));
  EXPECT_FALSE(ReadRegularFile(temp.Sub("big"), 100));
  EXPECT_TRUE(ReadRegularFile(temp.Sub("big"), 101));
}

}  // namespace
}  // namespace stet::tool
