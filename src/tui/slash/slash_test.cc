#include "tui/slash/slash.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tui/picker.h"

namespace stet::tui {
namespace {

TEST(Slash, HelpHasEveryCommandOfTheTerminalAndThoseOfExtensions) {
  const std::string help = SlashHelp({"deploy"});
  for (const client::CommandRow& row : client::kCommands) {
    const std::string shown = fmt::format("  /{} {}", row.name, row.argument);
    EXPECT_EQ(help.find(shown) != std::string::npos, row.in_terminal) << row.name;
    EXPECT_EQ(help.find(row.help) != std::string::npos, row.in_terminal) << row.name;
  }
  EXPECT_NE(help.find("  /deploy                      an extension's\n"), std::string::npos)
      << help;
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
}  // namespace stet::tui
