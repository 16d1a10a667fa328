#include "config/settings.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/source_dir_fixture.h"
#include "base/temp_dir.h"

namespace stet::config {
namespace {

std::string ErrorOf(std::string_view toml) {
  const Result<Settings> settings = ParseSettings(toml, "config.toml");
  return settings ? "none" : settings.error().Text();
}

TEST(SettingsTest, AWholeModelIsRead) {
  const Result<Settings> settings = ParseSettings(R"(
[model]
type = "custom"
provider = "mine"
id = "big"
api = "openai-completions"
baseUrl = "http://127.0.0.1:9/v1"
apiKeyEnv = "MY_KEY"
contextWindow = 32_000
maxTokens = 4000
reasoning = true
images = false
effort = "high"
headers = { "X-Team" = "a", y = "b" }
[model.clocks]
connectMs = 1
firstByteMs = 2
[model.retry]
maxTries = 3
)",
                                                  "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  ASSERT_TRUE(settings->model);
  EXPECT_EQ(settings->model->base_url, "http://127.0.0.1:9/v1");
  EXPECT_EQ(settings->model->context_window, 32'000);
  EXPECT_EQ(settings->model->reasoning, true);
  EXPECT_EQ(settings->model->clocks->first_byte_ms, 2);
  EXPECT_EQ(settings->model->retry->max_tries, 3);
  const auto headers = TextTable(*settings->model->headers);
  ASSERT_TRUE(headers);
  EXPECT_EQ(headers->size(), 2U);
}

TEST(SettingsTest, ARoleIsATableOrTheNameOfAModel) {
  const Result<Settings> settings = ParseSettings(R"(
[model.roles]
fallback = "small"
auxiliary = { provider = "openai", id = "gpt-6-luna" }
[models.small]
provider = "anthropic"
id = "claude-haiku-5-5"
)",
                                                  "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  EXPECT_FALSE(settings->model) << "roles alone configure no model";
  EXPECT_EQ(settings->roles.at("fallback").id, "claude-haiku-5-5");
  EXPECT_EQ(settings->roles.at("auxiliary").provider, "openai");
}

TEST(SettingsTest, AnUnknownKeyIsNamedWithItsLine) {
  EXPECT_EQ(ErrorOf("sessionsDir = 'x'"), "config.toml:1: Unsupported config key: sessionsDir");
  EXPECT_EQ(ErrorOf("[model]\nid = 'x'\nmodle = 'y'"),
            "config.toml:3: Unsupported config key: model.modle");
  EXPECT_EQ(ErrorOf("[model]\n[model.clocks]\nconnect = 1"),
            "config.toml:3: Unsupported config key: model.clocks.connect");
  EXPECT_EQ(ErrorOf("[models.a]\nx = 1"), "config.toml:2: Unsupported config key: models.a.x");
  EXPECT_EQ(ErrorOf("[model.roles]\nboss = 'a'"),
            "config.toml:2: Unsupported config key: model.roles.boss");
}

TEST(SettingsTest, AWrongValueIsNamedByItsKey) {
  EXPECT_EQ(ErrorOf("[model]\nid = 3"), "config.toml:2: model.id has a value of the wrong kind");
  EXPECT_EQ(ErrorOf("model = 3"), "config.toml:1: model must be a table");
  EXPECT_EQ(ErrorOf("[model]\nmaxTokens = 1.5"),
            "config.toml:2: model.maxTokens has a value of the wrong kind");
  EXPECT_EQ(ErrorOf("[model]\nmaxTokens = 4000.0"),
            "config.toml:2: model.maxTokens has a value of the wrong kind");
  EXPECT_EQ(ErrorOf("[model]\nmaxTokens = inf"),
            "config.toml:2: model.maxTokens must be a text, a finite number, true or false");
  EXPECT_EQ(ErrorOf("[model.roles]\nfallback = 'nobody'"),
            "config.toml:2: model.roles.fallback names the model \"nobody\", but there is no "
            "[models.nobody]");
}

TEST(SettingsTest, TextThatIsNoTomlIsAnErrorWithItsLine) {
  EXPECT_TRUE(ErrorOf("[model]\nid = ").starts_with("config.toml:2: "))
      << ErrorOf("[model]\nid = ");
  EXPECT_EQ(ErrorOf("\xff"), "config.toml is not UTF-8");
}

TEST(SettingsTest, TheSandboxHasANetworkFoldersAndLimits) {
  const Result<Settings> settings = ParseSettings(
      "[sandbox]\nenabled = true\nnetwork = 'hosts'\nhosts = ['a.org']\nwrite = ['~/x']\n"
      "required = true\ncpuSeconds = 5\nmemoryMb = 6\nprocesses = 7\nopenFiles = 8\nfileMb = 9\n",
      "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  EXPECT_EQ(settings->sandbox.network, "hosts");
  EXPECT_EQ(settings->sandbox.file_mb, 9);
  EXPECT_EQ(ErrorOf("[sandbox]\nnetwork = 'on'"),
            "config.toml:2: sandbox.network must be off, loopback, hosts or open");
  EXPECT_EQ(ErrorOf("[sandbox]\nwrite = ['x']"),
            "config.toml:2: sandbox.write must have paths that begin with / or ~/");
  EXPECT_EQ(ErrorOf("[sandbox]\nnet = 1"), "config.toml:2: Unsupported config key: sandbox.net");
}

TEST(SettingsTest, TheThresholdIsAPartOfTheWindow) {
  for (const auto& [text, permille] : {std::pair<std::string, std::int64_t>{"0.8", 800},
                                       {"0.1", 100},
                                       {"0.95", 950},
                                       {"5e-1", 500},
                                       {"0.333", 333}}) {
    const Result<Settings> settings =
        ParseSettings("[context]\nthreshold = " + text, "config.toml");
    ASSERT_TRUE(settings) << settings.error().Text();
    EXPECT_EQ(settings->threshold_permille, permille) << text;
  }
  for (const char* wrong : {"'0.8'", "1", "80", "1.0", "0.05", "-0.5", "1e300", "true"})
    EXPECT_EQ(ErrorOf(std::string("[context]\nthreshold = ") + wrong),
              "config.toml:2: context.threshold must be a number from 0.1 to 0.95");
  EXPECT_EQ(ErrorOf("[context]\nthreshold = nan"),
            "config.toml:2: context.threshold must be a text, a finite number, true or false");
}

TEST(SettingsTest, TheExampleOfTheReadmeIsRead) {
  const std::string readme = ReadFile(SourceDir() + "/README.md").value_or("");
  constexpr std::string_view kBegin = "```toml\n";
  std::size_t examples = 0;
  for (std::size_t at = readme.find(kBegin); at != std::string::npos;
       at = readme.find(kBegin, at + 1)) {
    const std::size_t begin = at + kBegin.size();
    const std::size_t end = readme.find("```", begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(ErrorOf(std::string_view(readme).substr(begin, end - begin)), "none");
    ++examples;
  }
  EXPECT_EQ(examples, 1U);
}

TEST(SettingsTest, WithoutAFileNothingIsSet) {
  const TempDir dir;
  const Result<Settings> settings = ReadSettings(dir.path() + "/config.toml");
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->model);
}

TEST(SettingsTest, ATableWithoutANameIsAnError) {
  for (const std::string_view toml : {"[#model]\nid = 'm'\n", "[.a]\n", "[=]\n", "[[#a]]\n"})
    EXPECT_TRUE(ErrorOf(toml).starts_with("config.toml:1: ")) << ErrorOf(toml);
}

TEST(SettingsTest, LettersBeyondAsciiMayStandInTextsAndComments) {
  for (const std::string_view toml :
       {"\u00e9 = 1\n", "a = 2\"\u00e9\n", "[a]\u00e9\n", "a =\ufefb"})
    EXPECT_TRUE(ErrorOf(toml).starts_with("config.toml:1: ")) << ErrorOf(toml);
  const Result<Settings> settings = ParseSettings(
      "\ufeff# \u00e9\n[model]\nid = \"\u00e9\"\nprovider = \"\"\"\\\n \u00e9\"\"\"\n",
      "config.toml");
  ASSERT_TRUE(settings) << settings.error().Text();
  EXPECT_EQ(settings->model->id, "\u00e9");
  EXPECT_EQ(settings->model->provider, "\u00e9");
}

}  // namespace
}  // namespace stet::config
