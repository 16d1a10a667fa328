#include "base/utf8.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

constexpr std::string_view kBad = "\uFFFD";

std::string Encoded(char32_t code_point) {
  std::string out;
  AppendUtf8(out, code_point);
  return out;
}

TEST(Utf8, AcceptsTheEndsOfEveryRange) {
  for (const char32_t c :
       {0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF})
    EXPECT_TRUE(IsValidUtf8(Encoded(c))) << static_cast<unsigned>(c);
}

TEST(Utf8, EncodesAsTheStandardSays) {
  EXPECT_EQ(Encoded(U'A'), "A");
  EXPECT_EQ(Encoded(0xE9), "\xC3\xA9");
  EXPECT_EQ(Encoded(0x20AC), "\xE2\x82\xAC");
  EXPECT_EQ(Encoded(0x1F600), "\xF0\x9F\x98\x80");
}

TEST(Utf8, EncodesWhatIsNoCodePointAsTheReplacement) {
  EXPECT_EQ(Encoded(0xD800), kBad);
  EXPECT_EQ(Encoded(0xDFFF), kBad);
  EXPECT_EQ(Encoded(0x110000), kBad);
}

TEST(Utf8, RejectsWhatTheStandardForbids) {
  for (const std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xC3",
        "\xE2\x82", "\xF0\x9F\x98", "\xC3(", "\xE2\x82("})
    EXPECT_FALSE(IsValidUtf8(bad));
}

TEST(Utf8, FindsABadByteAtEveryPlaceOfALongText) {
  const std::string good(100, 'a');
  EXPECT_TRUE(IsValidUtf8(good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string text = good;
    text[at] = '\xFF';
    EXPECT_FALSE(IsValidUtf8(text)) << at;
    const std::string mended = ReplaceInvalidUtf8(text);
    EXPECT_EQ(mended, text.replace(at, 1, kBad));
  }
}

TEST(Utf8, AcceptsMixedScriptsAtEveryAlignment) {
  for (std::size_t shift = 0; shift < 20; ++shift) {
    std::string text(shift, 'a');
    for (int i = 0; i < 40; ++i)
      text += i % 3 == 0 ? "plain text " : "\xE2\x82\xAC\xF0\x9F\x98\x80";
    EXPECT_TRUE(IsValidUtf8(text));
    EXPECT_EQ(ReplaceInvalidUtf8(text), text);
  }
}

TEST(Utf8, EveryMaximalBadPartBecomesOneReplacement) {
  // The example of section 3.9 of the Unicode standard.
  EXPECT_EQ(ReplaceInvalidUtf8("a\xF1\x80\x80\xE1\x80\xC2"
                               "b\x80"
                               "c\x80\xBF"
                               "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ReplaceInvalidUtf8("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(ReplaceInvalidUtf8(""), "");
}

TEST(Utf8, APrefixNeverCutsACodePoint) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t max = 0; max < std::size(expected); ++max)
    EXPECT_EQ(Utf8PrefixLength(text, max), expected[max]) << max;
}

TEST(Utf8, APrefixOfBrokenTextIsAsLongAsAllowed) {
  EXPECT_EQ(Utf8PrefixLength("\x80\x80\x80\x80\x80\x80", 5), 5u);
  EXPECT_EQ(Utf8PrefixLength("\xFF\xFF\xFF", 2), 2u);
  EXPECT_EQ(Utf8PrefixLength("ab\xF0(", 3), 3u);
}

}  // namespace
}  // namespace stet
