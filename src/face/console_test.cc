#include "face/console.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::face {
namespace {

TEST(ConsoleTest, JsonForATerminalHasEscapesForWhatWouldDriveIt) {
  EXPECT_EQ(TerminalJson("{\"a\":\"\u009b2J\x7f\u202e\u2028\"}\n"),
            R"({"a":"\u009b2J\u007f\u202e\u2028"})"
            "\n");
  const std::string plain = "{\"a\":\"\u00e9 \u65e5 \U0001F600 \u200f\\n\"}\n";
  EXPECT_EQ(TerminalJson(plain), plain);
  EXPECT_EQ(TerminalJson(""), "");
}

TEST(ConsoleTest, JsonForATerminalIsTheSameValue) {
  const std::string json = "{\"a\":\"\u0085\u00e9\u2066\U0001F600\x7f\"}";
  const std::string shown = TerminalJson(json);
  EXPECT_NE(shown, json);
  EXPECT_EQ(JsonView(shown)["a"].StringOr(""), JsonView(json)["a"].StringOr("none"));
}

}  // namespace
}  // namespace stet::face
