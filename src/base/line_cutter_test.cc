#include "base/line_cutter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stet {
namespace {

std::vector<std::string> Cut(LineCutter& cutter, std::string_view bytes) {
  std::vector<std::string> lines;
  cutter.Feed(bytes, [&](std::optional<std::string_view> line) {
    lines.emplace_back(line.value_or("too long"));
  });
  return lines;
}

TEST(LineCutterTest, ALineMayComeInAnyPieces) {
  LineCutter cutter(100);
  EXPECT_EQ(Cut(cutter, "on"), std::vector<std::string>());
  EXPECT_EQ(Cut(cutter, "e\n\ntw"), (std::vector<std::string>{"one", ""}));
  std::vector<std::string> last;
  cutter.Finish([&](std::optional<std::string_view> line) { last.emplace_back(*line); });
  EXPECT_EQ(last, std::vector<std::string>{"tw"});
}

TEST(LineCutterTest, ALineOfTheLargestSizeIsReadAndALongerOneIsDropped) {
  const std::string largest(100, 'x');
  LineCutter cutter(100);
  EXPECT_EQ(Cut(cutter, largest), std::vector<std::string>());
  EXPECT_EQ(Cut(cutter, "\n"), std::vector<std::string>{largest});
  EXPECT_EQ(Cut(cutter, largest + "x"), std::vector<std::string>());
  EXPECT_EQ(Cut(cutter, "more\nnext\n"), (std::vector<std::string>{"too long", "next"}));
}

TEST(LineCutterTest, OfALineThatIsTooLongTheBeginningIsThereWhileItComesAndWhenItEnds) {
  const std::string begin = "{\"id\":7";
  LineCutter cutter(100);
  Cut(cutter, begin);
  EXPECT_EQ(cutter.head(), "") << "it may end yet";
  Cut(cutter, std::string(2 * LineCutter::kHead, 'x'));
  EXPECT_TRUE(cutter.head().starts_with(begin));
  EXPECT_EQ(cutter.head().size(), LineCutter::kHead);
  std::string seen;
  cutter.Feed("\n", [&](std::optional<std::string_view>) { seen = cutter.head(); });
  EXPECT_TRUE(seen.starts_with(begin));
  EXPECT_EQ(cutter.head(), "");
}

}  // namespace
}  // namespace stet
