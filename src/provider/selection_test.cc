#include "provider/selection.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "provider/catalogue.h"

namespace stet::provider {
namespace {

std::string Keys(const std::string& name) {
  return name == "ANTHROPIC_API_KEY" || name == "MY_KEY" ? "secret of " + name : "";
}

Result<Selected> Select(std::string_view toml, const std::string& asked = "") {
  const Result<config::Settings> settings = config::ParseSettings(toml, "config.toml");
  if (!settings) return std::unexpected(settings.error());
  return SelectModel(*settings, asked, Keys);
}

std::string NameOf(const Result<Selected>& selected) {
  return selected ? selected->access.model.FullName() : selected.error().Text();
}

TEST(SelectionTest, WithNothingConfiguredTheOfflineModelWorks) {
  const Result<Selected> selected = Select("");
  ASSERT_TRUE(selected);
  EXPECT_TRUE(selected->offline());
  EXPECT_TRUE(Select("[model]\nid='claude-opus-5'", "offline")->offline());
  EXPECT_TRUE(Select("[model]\nid='claude-opus-5'", "stet/offline")->offline())
      << "as it is listed";
}

TEST(SelectionTest, TheConfiguredModelComesWithItsKey) {
  const Result<Selected> selected = Select(
      "[model]\nprovider='anthropic'\nid='claude-sonnet-5-5'\neffort='high'\n"
      "maxTokens=1000\n[model.clocks]\nidleFailMs=5\n[model.retry]\nmaxTries=2");
  ASSERT_TRUE(selected) << selected.error().Text();
  EXPECT_EQ(selected->access.key, "secret of ANTHROPIC_API_KEY");
  EXPECT_EQ(selected->access.model.max_output, 1000);
  EXPECT_EQ(selected->access.model.context_window, 1'000'000);
  EXPECT_EQ(selected->access.model.clocks.idle_fail, std::chrono::milliseconds(5));
  EXPECT_EQ(selected->retry.max_tries, 2);
  EXPECT_EQ(selected->effort, "high");
}

TEST(SelectionTest, NumbersThatMakeNoSenseAreRefusedAndWaitsAreBounded) {
  const std::string model = "[model]\nprovider='anthropic'\nid='claude-sonnet-5-5'\n";
  EXPECT_EQ(NameOf(Select(model + "maxTokens=0")),
            "[model] in config.toml: maxTokens must be from 1 to 1000000000");
  EXPECT_EQ(NameOf(Select(model + "contextWindow=9223372036854775807")),
            "[model] in config.toml: contextWindow must be from 1 to 1000000000");
  const Result<Selected> selected =
      Select(model + "clocks={idleFailMs=9223372036854775807, wholeMs=9223372036854775807}");
  ASSERT_TRUE(selected) << selected.error().Text();
  EXPECT_EQ(selected->access.model.clocks.idle_fail, std::chrono::days(30));
  EXPECT_EQ(selected->access.model.clocks.whole, std::chrono::days(30));
}

TEST(SelectionTest, AConfiguredModelWithoutItsKeyIsAnErrorAndNotTheOfflineModel) {
  const Result<Selected> selected = Select("[model]\nprovider='openai'\nid='gpt-6-sol'");
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, Code::kAuth);
  EXPECT_EQ(selected.error().message,
            "openai/gpt-6-sol needs a key: set the environment variable OPENAI_API_KEY");
}

TEST(SelectionTest, ACustomEndpointIsWhollyTheUsers) {
  const Result<Selected> selected = Select(
      "[model]\ntype='custom'\nid='m'\napi='openai-completions'\n"
      "baseUrl='http://127.0.0.1:1/v1/'\ncontextWindow=9000\nheaders={a='b'}");
  ASSERT_TRUE(selected) << selected.error().Text();
  const Model& model = selected->access.model;
  EXPECT_EQ(model.FullName(), "custom/m");
  EXPECT_EQ(model.base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(model.context_window, 9000);
  EXPECT_EQ(model.max_output, kDefaultMaxOutput);
  EXPECT_EQ(model.headers, (Headers{{"a", "b"}}));
  EXPECT_TRUE(selected->access.key.empty());
  EXPECT_EQ(model.prices, std::nullopt);
}

TEST(SelectionTest, WhatIsAskedForComesBeforeTheConfiguration) {
  constexpr std::string_view kToml =
      "[model]\nid='claude-opus-5'\n[models.mine]\ntype='custom'\nid='x'\n"
      "api='anthropic-messages'\nbaseUrl='http://h'\napiKeyEnv='MY_KEY'";
  EXPECT_EQ(NameOf(Select(kToml)), "anthropic/claude-opus-5");
  EXPECT_EQ(NameOf(Select(kToml, "mine")), "custom/x");
  EXPECT_EQ(Select(kToml, "mine")->access.key, "secret of MY_KEY");
  EXPECT_EQ(NameOf(Select(kToml, "claude-haiku-5-5")), "anthropic/claude-haiku-5-5");
  EXPECT_EQ(NameOf(Select(kToml, "ollama/llama")), "ollama/llama");
}

TEST(SelectionTest, AConfiguredModelIsFoundByTheNameThatItIsShownWith) {
  constexpr std::string_view kToml =
      "[model]\ntype='custom'\nid='emu'\napi='openai-completions'\nbaseUrl='http://one/v1'\n"
      "apiKeyEnv='MY_KEY'\nheaders={a='b'}\n"
      "[model.roles]\nfallback={type='custom',provider='other',id='f',"
      "api='anthropic-messages',baseUrl='http://three'}\n"
      "[models.proxy]\nprovider='anthropic'\nid='claude-haiku-5-5'\nbaseUrl='http://two'";
  const Result<Selected> emu = Select(kToml, "custom/emu");
  ASSERT_TRUE(emu) << emu.error().Text();
  EXPECT_EQ(emu->access.model.base_url, "http://one/v1");
  EXPECT_EQ(emu->access.model.headers, (Headers{{"a", "b"}}));
  EXPECT_EQ(emu->access.key, "secret of MY_KEY");
  for (const char* name : {"anthropic/claude-haiku-5-5", "claude-haiku-5-5", "proxy"}) {
    const Result<Selected> proxy = Select(kToml, name);
    ASSERT_TRUE(proxy) << name << proxy.error().Text();
    EXPECT_EQ(proxy->access.model.base_url, "http://two") << name;
  }
  EXPECT_EQ(NameOf(Select(kToml, "other/f")), "other/f");
  EXPECT_TRUE(NameOf(Select(kToml, "custom/none")).contains("no model is called custom/none"));
  EXPECT_TRUE(NameOf(Select(kToml, "emu")).contains("no model is called emu"));
}

TEST(SelectionTest, ANameThatStandsForTwoServersIsRefused) {
  const std::string one =
      "[model]\ntype='custom'\nid='m'\napi='openai-completions'\nbaseUrl='http://one'\n";
  const std::string two = "[models.two]\ntype='custom'\nid='m'\napi='openai-completions'\n";
  const Result<Selected> both = Select(one + two + "baseUrl='http://two'", "custom/m");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, Code::kConflict);
  EXPECT_EQ(both.error().message,
            "the configuration has custom/m at two servers: ask for the NAME of a [models.NAME], "
            "or give each a provider of its own");
  const Result<Selected> named = Select(one + two + "baseUrl='http://two'", "two");
  ASSERT_TRUE(named) << named.error().Text();
  EXPECT_EQ(named->access.model.base_url, "http://two");
  EXPECT_EQ(NameOf(Select(one + two + "baseUrl='http://one/'", "custom/m")), "custom/m");
}

TEST(SelectionTest, TheRolesAreTheStandardModelAndTheFallback) {
  const Result<Selected> selected = Select(
      "[model]\nid='claude-opus-5'\n[model.roles]\nstandard={id='claude-opus-5-5'}\n"
      "fallback={id='claude-haiku-5-5'}");
  ASSERT_TRUE(selected) << selected.error().Text();
  EXPECT_EQ(selected->access.model.id, "claude-opus-5-5");
  ASSERT_TRUE(selected->fallback);
  EXPECT_EQ(selected->fallback->model.id, "claude-haiku-5-5");
}

TEST(SelectionTest, WhatWouldBreakARequestApartIsRefusedByItsKey) {
  const std::string model = "[model]\ntype='custom'\nid='a'\napi='openai-responses'\n";
  const std::string url = "baseUrl='http://h/v1'\n";
  EXPECT_EQ(NameOf(Select(model + R"(baseUrl="http://h/v1\r\nx: y")")),
            "[model] in config.toml: baseUrl contains a line break or another control character");
  EXPECT_EQ(NameOf(Select(model + url + R"(headers={x-team="a\nx-admin: 1"})")),
            "[model] in config.toml: headers: x-team contains a line break or another control "
            "character");
  for (const std::string_view name : {R"("")", R"("a\n")", R"("a: b")", R"("a\u007f")"}) {
    EXPECT_EQ(NameOf(Select(model + url + fmt::format("headers={{{}='b'}}", name))),
              "[model] in config.toml: headers: a header's name is not empty and has no colon, "
              "space or line break");
  }
  EXPECT_EQ(NameOf(Select(model + url + "headers={x='a: \u00e9'}")), "custom/a");
  const Result<config::Settings> settings =
      config::ParseSettings(model + url + "apiKeyEnv='MINE'", "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  EXPECT_EQ(NameOf(SelectModel(*settings, "", [](const std::string&) { return "key\n"; })),
            "the key in the environment variable MINE contains a line break or another control "
            "character");
}

TEST(SelectionTest, WhatMakesNoSenseIsSaid) {
  EXPECT_EQ(NameOf(Select("[model]\nprovider='openai'")), "[model] in config.toml: id is missing");
  EXPECT_EQ(NameOf(Select("[model]\ntype='custom'\nid='a'\napi='openai-responses'")),
            "[model] in config.toml: baseUrl is missing");
  EXPECT_EQ(NameOf(Select("[model]\ntype='odd'\nid='a'")),
            "[model] in config.toml: type = \"odd\" is neither builtin nor custom");
  EXPECT_NE(NameOf(Select("[model]\nprovider='nobody'\nid='a'")).find("no provider nobody"),
            std::string::npos);
  EXPECT_NE(NameOf(Select("[model]\nid='claude-opus-5'\neffort='huge'")).find("effort"),
            std::string::npos);
}

}  // namespace
}  // namespace stet::provider
