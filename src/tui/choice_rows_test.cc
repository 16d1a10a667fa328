#include "tui/choice_rows.h"

#include <gtest/gtest.h>

namespace stet::tui {
namespace {

using Rows = std::vector<std::string>;

TEST(ChoiceRowsTest, RowsAreBrokenBetweenChoices) {
  constexpr std::string_view kChoices = "y once   n no   a always: make";
  EXPECT_EQ(ChoiceRows(kChoices, 80, 9), (Rows{"y once   n no   a always: make"}));
  EXPECT_EQ(ChoiceRows(kChoices, 17, 9), (Rows{"y once   n no", "a always: make"}));
  EXPECT_EQ(ChoiceRows("n no", 5, 9), (Rows{"n no"}));
  EXPECT_EQ(ChoiceRows("", 80, 9), Rows());
}

TEST(ChoiceRowsTest, AChoiceThatIsWiderThanARowGoesOnInTheNext) {
  EXPECT_EQ(ChoiceRows("y   a: long one   g", 7, 9), (Rows{"y", "a: lon", "g one", "g"}));
  EXPECT_EQ(ChoiceRows("日本語", 5, 9), (Rows{"日本", "語"}));
}

TEST(ChoiceRowsTest, RowsAreNoMoreThanTheScreenHas) {
  EXPECT_EQ(ChoiceRows("one   two   six", 5, 2), (Rows{"one", "two"}));
}

}  // namespace
}  // namespace stet::tui
