#include "tool/html_text.h"

#include <gtest/gtest.h>

namespace stet::tool {
namespace {

TEST(HtmlTextTest, APageIsReadable) {
  EXPECT_EQ(HtmlText("<!DOCTYPE html><html><head><title>no</title></head><body>"
                     "<h2>Head  ing</h2><p>One\n two <b>three</b>.<p>See <a class=x "
                     "href='https://e.org/?a=1&amp;b=2'>there</a>.<ul><li>a<li>b</ul></body>"),
            "## Head ing\n\nOne two three.\n\nSee there (https://e.org/?a=1&b=2).\n\n- a\n- b\n");
}

TEST(HtmlTextTest, CodeKeepsItsLinesAndScriptsAreLeftOut) {
  EXPECT_EQ(HtmlText("<pre>a\n  b &lt; c</pre><script>if (a < b) x('</p>');</script>"
                     "<style>p{}</style>end"),
            "a\n  b < c\n\nend\n");
}

TEST(HtmlTextTest, CharacterReferencesAreUndone) {
  EXPECT_EQ(HtmlText("&#x4e2d;&#25991; &nosuch; &amp;lt; a&b &#xD800; &#1114112;"),
            "\u4e2d\u6587 &nosuch; &lt; a&b &#xD800; &#1114112;\n");
}

TEST(HtmlTextTest, BrokenMarkupIsStillText) {
  EXPECT_EQ(HtmlText("1 < 2 <p"), "1 < 2\n");
  EXPECT_EQ(HtmlText("<script>never closed"), "");
  EXPECT_EQ(HtmlText("a<!-- never closed"), "a\n");
  EXPECT_EQ(HtmlText(""), "");
}

}  // namespace
}  // namespace stet::tool
