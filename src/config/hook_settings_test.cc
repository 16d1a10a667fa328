#include "config/hook_settings.h"

#include <gtest/gtest.h>

#include "config/settings.h"

namespace stet::config {
namespace {

std::string HookErrorOf(std::string_view toml) {
  const Result<Settings> settings = ParseSettings(toml, "config.toml");
  return settings ? "none" : settings.error().Text();
}

TEST(HookSettingsTest, BothFormsAreReadInTheOrderOfTheFile) {
  const Result<Settings> settings = ParseSettings(R"([[hooks.PreToolUse]]
matcher = "Bash"
command = "a"
timeout = 10
[[hooks.PreToolUse]]
hooks = [{ type = "http", url = "http://127.0.0.1/" }, { type = "prompt", prompt = "p" }]
[[hooks.Stop]]
command = "b"
)",
                                                  "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  using Kind = HookSettings::Kind;
  const HookList expected = {{"PreToolUse", "Bash", Kind::kCommand, "a", 10, 1},
                             {"PreToolUse", "", Kind::kHttp, "http://127.0.0.1/", 0, 1},
                             {"PreToolUse", "", Kind::kPrompt, "p", 0, 1},
                             {"Stop", "", Kind::kCommand, "b", 0, 7}};
  ASSERT_EQ(settings->hooks.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    HookSettings hook = settings->hooks[i];
    EXPECT_GT(hook.line, 0U);
    hook.line = expected[i].line;
    EXPECT_EQ(hook, expected[i]) << i;
  }
}

TEST(HookSettingsTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(HookErrorOf("[[hooks.PreTool]]\ncommand='x'\n"),
            "config.toml:1: hooks.PreTool is no event that hooks are told of");
  EXPECT_NE(HookErrorOf("[[hooks.Stop]]\ntype='shell'\ncommand='x'\n").find("type that is not"),
            std::string::npos);
  EXPECT_NE(HookErrorOf("[[hooks.Stop]]\ntype='http'\ncommand='x'\n").find("needs a url"),
            std::string::npos);
  EXPECT_NE(HookErrorOf("[[hooks.Stop]]\ncommand='x'\nurl='y'\n").find("one of command"),
            std::string::npos);
  EXPECT_NE(HookErrorOf("[[hooks.Stop]]\ncommand='x'\ntimeout=0\n").find("from 1 to 3600"),
            std::string::npos);
  EXPECT_NE(HookErrorOf("[[hooks.Stop]]\ncommand='x'\ntimeOut=1\n").find("not one of a hook's"),
            std::string::npos);
  EXPECT_NE(HookErrorOf("[hooks]\nStop='x'\n").find("must be a list"), std::string::npos);
  EXPECT_NE(HookErrorOf("hooks = 1\n").find("must be a table"), std::string::npos);
}

}  // namespace
}  // namespace stet::config
