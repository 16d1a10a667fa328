// `stet models`: what can be named, and whether it answers.
#include "protocol/models.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/text.h"
#include "json/describe.h"
#include "json/view.h"
#include "provider/catalogue.h"
#include "tests/scenario/program.h"
#include "tests/scenario/running_emulator.h"

namespace stet::scenario {
namespace {

class ModelsTest : public testing::Test {
 protected:
  void Configure(std::string_view toml) const {
    ASSERT_TRUE(MakeDirs(program_.home()));
    ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml", toml, Durable::kNo));
  }

  [[nodiscard]] protocol::ModelList List() const {
    const Ran ran = program_.Run({"models", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const Result<protocol::ModelList> list = Decode<protocol::ModelList>(ran.out);
    EXPECT_TRUE(list) << ran.out;
    return list.value_or(protocol::ModelList());
  }

  [[nodiscard]] static protocol::ModelCheck CheckIn(const Ran& ran) {
    const Result<protocol::ModelCheck> check = Decode<protocol::ModelCheck>(ran.out);
    EXPECT_TRUE(check) << ran.out << ran.err;
    return check.value_or(protocol::ModelCheck());
  }

  Program program_;
};

struct Endpoint {
  const char* dialect;
  const char* path;  // Behind the server's address.
};
constexpr std::array<Endpoint, 4> kServers = {{{"anthropic-messages", ""},
                                               {"openai-completions", "/v1"},
                                               {"openai-responses", "/v1"},
                                               {"google-generative-ai", "/v1beta"}}};

std::string CustomModel(const Endpoint& endpoint, const std::string& server) {
  return fmt::format(R"(
[model]
type = "custom"
provider = "mine"
id = "m"
api = "{}"
baseUrl = "{}{}"
[model.retry]
maxTries = 2
firstWaitMs = 1
)",
                     endpoint.dialect, server, endpoint.path);
}

/// The most that each request of a turn asked for, the replies being cut.
std::vector<std::int64_t> MostAskedFor(const std::string& setting) {
  const Program program;
  RunningEmulator emulator(R"({"replies":[
    {"blocks":[{"text":"One."}],"stop":"max_tokens"},
    {"blocks":[{"text":"Two."}],"stop":"max_tokens"},
    {"times":0,"blocks":[{"text":"Three."}]}]})");
  EXPECT_TRUE(MakeDirs(program.home()));
  EXPECT_TRUE(ReplaceFile(program.home() + "/config.toml",
                          Replaced(CustomModel(kServers[0], emulator.base_url()), "[model.retry]",
                                   setting + "\n[model.retry]"),
                          Durable::kNo));
  EXPECT_EQ(program.Run({"-p", "go"}).exit_code, 0);
  std::vector<std::int64_t> most;
  const std::string asked = emulator.Requests();
  JsonView(asked).ForEach(
      [&](const JsonView& one) { most.push_back(one["body"]["max_tokens"].IntOr(0)); });
  return most;
}

TEST(MaxTokensTest, ALimitOfTheConfigurationIsNeverExceededWhileADefaultIsRaised) {
  const std::vector<std::int64_t> stated = MostAskedFor("");
  ASSERT_GE(stated.size(), 3U);
  EXPECT_GT(stated[1], stated[0]);
  const std::vector<std::int64_t> set = MostAskedFor("maxTokens = 50");
  ASSERT_GE(set.size(), 3U);
  for (const std::int64_t most : set) EXPECT_LE(most, 50);
}

TEST_F(ModelsTest, AllProvidersAndTheirModelsAreListed) {
  const protocol::ModelList list = List();
  std::vector<std::string> names;
  for (const protocol::ProviderRow& row : list.providers) names.push_back(row.name);
  std::vector<std::string> expected;
  for (const provider::ProviderFacts& facts : provider::Providers())
    expected.emplace_back(facts.name);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(list.models.size(), provider::BuiltinModels().size() + 1) << "and the offline one";
  for (const protocol::ProviderRow& row : list.providers) EXPECT_FALSE(row.key_present) << row.name;
  const Ran text = program_.Run({"models"});
  EXPECT_EQ(text.exit_code, 0);
  for (const std::string& name : expected)
    EXPECT_NE(text.out.find("\n" + name + " ("), std::string::npos) << name;
}

TEST_F(ModelsTest, AnEmptyHomeHasTheOfflineModelAndItAnswers) {
  const protocol::ModelList list = List();
  EXPECT_EQ(list.selected, "stet/offline");
  EXPECT_EQ(list.problem, std::nullopt);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"models", "check", "--json"},
        std::vector<std::string>{"models", "check", "offline", "--json"}}) {
    const Ran ran = program_.Run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const protocol::ModelCheck check = CheckIn(ran);
    EXPECT_TRUE(check.ok);
    EXPECT_EQ(check.model, "stet/offline");
    EXPECT_EQ(check.price, 0);
    EXPECT_NE(check.reply.find("offline model"), std::string::npos);
  }
  EXPECT_FALSE(Exists(program_.home() + "/config.toml")) << "asking makes no file";
}

TEST_F(ModelsTest, AConfiguredModelIsAskedByTheNameThatItIsShownWith) {
  const RunningEmulator emulator(R"({"replies":[{"times":0,"blocks":[{"text":"ready"}]}]})");
  Configure("[model]\ntype='custom'\nid='emu'\napi='anthropic-messages'\nbaseUrl='" +
            emulator.base_url() + "'\n");
  EXPECT_EQ(List().selected, "custom/emu");
  const Ran checked = program_.Run({"models", "check", "custom/emu", "--json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(CheckIn(checked).model, "custom/emu");
  const Ran asked = program_.Run({"-p", "--model", "custom/emu", "are you there?"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_EQ(asked.out, "ready\n");
}

TEST_F(ModelsTest, AConfiguredModelIsAskedInItsDialect) {
  const RunningEmulator emulator(
      R"({"replies":[{"times":0,"blocks":[{"text":"ready"}],"usage":{"input":3,"output":4}}]})");
  for (const Endpoint& endpoint : kServers) {
    Configure(CustomModel(endpoint, emulator.base_url()));
    const Ran ran = program_.Run({"models", "check", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const protocol::ModelCheck check = CheckIn(ran);
    EXPECT_TRUE(check.ok) << check.message.value_or("");
    EXPECT_EQ(check.model, "mine/m");
    EXPECT_EQ(check.reply, "ready");
    EXPECT_EQ(check.attempts, 1);
    ASSERT_TRUE(check.usage);
    EXPECT_EQ(check.usage->input, 3);
    EXPECT_EQ(check.usage->output, 4);
    EXPECT_EQ(check.price, std::nullopt) << "no settings say what it costs";
    const Ran text = program_.Run({"models", "check"});
    EXPECT_TRUE(text.out.starts_with("mine/m answers: ready\n")) << text.out;
  }
  std::vector<std::string> dialects;
  JsonView(emulator.Requests()).ForEach([&](const JsonView& request) {
    if (dialects.empty() || dialects.back() != request["dialect"].StringOr(""))
      dialects.push_back(request["dialect"].StringOr(""));
  });
  ASSERT_EQ(dialects.size(), kServers.size());
  for (std::size_t i = 0; i < kServers.size(); ++i) EXPECT_EQ(dialects[i], kServers[i].dialect);
}

TEST_F(ModelsTest, AFailureIsSaidWithItsKindAndWaitsAreTold) {
  const RunningEmulator emulator(
      R"({"replies":[{"times":0,"fault":{"kind":"status","status":500,"message":"oops"}}]})");
  Configure(CustomModel(kServers[0], emulator.base_url()));
  const Ran ran = program_.Run({"models", "check"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(ran.out.starts_with("mine/m does not answer: server: oops\n")) << ran.out;
  EXPECT_NE(ran.out.find("2 attempts"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("then trying again: server: oops"), std::string::npos) << ran.err;
}

TEST_F(ModelsTest, AKeyThatIsMissingOrRefusedIsExitCode5) {
  const Ran missing = program_.Run({"models", "check", "anthropic/claude-sonnet-5-5"});
  EXPECT_EQ(missing.exit_code, 5);
  EXPECT_NE(missing.err.find("ANTHROPIC_API_KEY"), std::string::npos) << missing.err;
  const RunningEmulator emulator(
      R"({"replies":[{"times":0,"fault":{"kind":"status","status":401,"message":"bad key"}}]})");
  Configure(CustomModel(kServers[1], emulator.base_url()));
  const Ran refused = program_.Run({"models", "check"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_TRUE(refused.out.starts_with("mine/m does not answer: auth: bad key\n")) << refused.out;
}

TEST_F(ModelsTest, AModelWithoutItsKeyIsListedAndTheProblemSaid) {
  Configure("[model]\nprovider = 'anthropic'\nid = 'claude-sonnet-5-5'\n");
  const protocol::ModelList list = List();
  EXPECT_EQ(list.selected, "anthropic/claude-sonnet-5-5");
  EXPECT_NE(list.problem.value_or("").find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_NE(program_.Run({"models"}).err.find("It cannot be used now: "), std::string::npos);
}

TEST_F(ModelsTest, AWrongConfigurationNamesItsKeyAndLine) {
  Configure("[model]\nid = 'x'\nmodle = 'y'\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"models"}, std::vector<std::string>{"models", "check"}}) {
    const Ran ran = program_.Run(arguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find("config.toml:3: Unsupported config key: model.modle"), std::string::npos)
        << ran.err;
  }
}

TEST_F(ModelsTest, AModelThatNobodyKnowsIsSaid) {
  const Ran ran = program_.Run({"models", "check", "no-such-model"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("no-such-model"), std::string::npos) << ran.err;
}

TEST_F(ModelsTest, AModelHasANameOfTheConfiguration) {
  const RunningEmulator emulator(R"({"replies":[{"times":0,"blocks":[{"text":"ready"}]}]})");
  Configure(
      fmt::format("[models.mine]\ntype='custom'\nid='m'\napi='anthropic-messages'\nbaseUrl='{}'\n",
                  emulator.base_url()));
  const Ran ran = program_.Run({"models", "check", "mine"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("custom/m answers: ready\n")) << ran.out;
  const protocol::ModelList list = List();
  EXPECT_TRUE(std::ranges::any_of(list.models, [](const protocol::ModelRow& row) {
    return row.name == "mine" && row.configured;
  }));
}

}  // namespace
}  // namespace stet::scenario
