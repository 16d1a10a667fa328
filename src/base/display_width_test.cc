#include "base/display_width.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(TextWidth("abc"), 3u);
  EXPECT_EQ(TextWidth("世界"), 4u);
  EXPECT_EQ(TextWidth("e\u0301"), 1u);
  EXPECT_EQ(TextWidth("👍🏽"), 2u);
  EXPECT_EQ(TextWidth("👨‍👩‍👧"), 2u);
  EXPECT_EQ(TextWidth(""), 0u);
}

TEST(TextWidth, TheFirstGraphemeIsNeverCut) {
  EXPECT_EQ(FirstGrapheme(""), 0u);
  EXPECT_EQ(FirstGrapheme("ab"), 1u);
  EXPECT_EQ(FirstGrapheme("e\u0301x"), 3u);
  EXPECT_EQ(FirstGrapheme("👨‍👩‍👧世"), std::string_view("👨‍👩‍👧").size());
  EXPECT_EQ(FirstGrapheme("\xff世"), 1u);
}

TEST(TextWidth, CutsBetweenGraphemesAndSaysSo) {
  EXPECT_EQ(FitText("hello", 5), "hello");
  EXPECT_EQ(FitText("hello!", 5), "hell…");
  EXPECT_EQ(FitText("世界和平", 5), "世界…");
  EXPECT_EQ(FitText("世界和平", 4), "世…");
  EXPECT_EQ(FitText("x", 0), "");
}

TEST(TextWidth, BadBytesNeverLoseTheRest) {
  EXPECT_EQ(TextWidth("\xff\xfe"), 2u);
  EXPECT_EQ(FitText("a\xff"
                    "b",
                    9),
            "a\xff"
            "b");
}

TEST(TextWidth, OneLineHasNoBreaks) {
  EXPECT_EQ(OneLineText("  a\n\tb\r\n c  "), "a b c");
  EXPECT_EQ(OneLineText("\n"), "");
}

TEST(TextWidth, EscapeSequencesAreShownNotObeyed) {
  EXPECT_EQ(PrintableText("a\x1b[2Jb"), "a␛[2Jb");
  EXPECT_EQ(PrintableText("a\u009b2Jb"), "a\uFFFD2Jb");
  EXPECT_EQ(PrintableText("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(PrintableText("a\u202Eb\u2066c\u2028d"), "a\uFFFDb\uFFFDc\uFFFDd");
  EXPECT_EQ(PrintableText("\u2027\u200F\u202F\u2065\u206A"), "\u2027\u200F\u202F\u2065\u206A");
}

TEST(FoldedTextTest, CaseWidthAndCompositionDoNotMatter) {
  EXPECT_EQ(FoldedText("PARSER"), FoldedText("parser"));
  EXPECT_EQ(FoldedText("ＦＵＬＬ"), FoldedText("full"));
  EXPECT_EQ(FoldedText("É"), FoldedText("e\u0301"));
  EXPECT_EQ(FoldedText("STRASSE"), FoldedText("straße"));
  EXPECT_EQ(FoldedText("ﾊﾝｶｸ"), FoldedText("ハンカク"));
  EXPECT_EQ(FoldedText("構文解析"), "構文解析");
  EXPECT_NE(FoldedText("かな"), FoldedText("カナ"));
  EXPECT_EQ(FoldedText("\xff"), "\xff");
  EXPECT_EQ(FoldedText(""), "");
}

}  // namespace
}  // namespace stet
