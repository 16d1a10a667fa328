#include "cli/slash.h"

#include <gtest/gtest.h>

#include "cli/picker.h"

namespace stet::cli {
namespace {

TEST(Slash, ACommandIsOneWordOfLetters) {
  EXPECT_EQ(ParseSlash("/model  a/b "), (Slash{"model", "a/b"}));
  EXPECT_EQ(ParseSlash("  /quit"), (Slash{"quit", ""}));
  EXPECT_EQ(ParseSlash("/usr/bin is full"), std::nullopt);
  EXPECT_EQ(ParseSlash("/"), std::nullopt);
  EXPECT_EQ(ParseSlash("// comment"), std::nullopt);
  EXPECT_EQ(ParseSlash("no"), std::nullopt);
}

TEST(Slash, TheNearestNameIsSuggestedAndNothingFarAway) {
  EXPECT_EQ(NearestSlash("modle"), "model");
  EXPECT_EQ(NearestSlash("exprot"), "export");
  EXPECT_EQ(NearestSlash("con"), "context");
  EXPECT_EQ(NearestSlash("frobnicate"), "");
  EXPECT_EQ(NearestSlash(std::string(10'000, 'x')), "");
}

TEST(Picker, FiltersMovesAndTakes) {
  Picker picker("which", {"Alpha", "beta", "alphabet"});
  EXPECT_EQ(picker.marked(), 0u);
  EXPECT_EQ(picker.Press({Key::Kind::kDown}), Picker::Does::kChanged);
  EXPECT_EQ(picker.marked(), 1u);
  for (const char* letter : {"a", "l", "p"}) picker.Press({Key::Kind::kText, letter});
  EXPECT_EQ(picker.marked(), 0u);
  picker.Press({Key::Kind::kDown});
  EXPECT_EQ(picker.marked(), 2u);
  EXPECT_EQ(picker.Press({Key::Kind::kDown}), Picker::Does::kNothing);
  EXPECT_EQ(picker.Rows(40, 10).rows,
            std::vector<std::string>({"which", "filter: alp", "  Alpha", "> alphabet"}));
  EXPECT_EQ(picker.Press({Key::Kind::kEnter}), Picker::Does::kTaken);
  picker.Press({Key::Kind::kText, "x"});
  EXPECT_EQ(picker.marked(), std::nullopt);
  EXPECT_EQ(picker.Press({Key::Kind::kEnter}), Picker::Does::kNothing);
  EXPECT_EQ(picker.Press({Key::Kind::kEscape}), Picker::Does::kLeft);
}

}  // namespace
}  // namespace stet::cli
