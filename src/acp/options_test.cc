#include "acp/options.h"

#include <gtest/gtest.h>

#include "json/view.h"

namespace stet::acp {
namespace {

protocol::LiveState State() {
  protocol::LiveState state;
  state.mode = "default";
  state.model = "custom/m";
  return state;
}

protocol::ModelList Models() {
  protocol::ModelList list;
  for (const char* name : {"near", "far"}) {
    protocol::ProviderRow& provider = list.providers.emplace_back();
    provider.name = name;
    provider.key_present = provider.name == "near";
    protocol::ModelRow& model = list.models.emplace_back();
    model.name = std::string(name) + "/x";
    model.provider = name;
    model.id = "x";
    model.efforts = {"low", "high"};
  }
  return list;
}

std::string Options(const protocol::LiveState& state) {
  std::string json;
  JsonWriter writer(json);
  WriteOptions(writer, state, Models());
  return json;
}

std::vector<std::string> Values(const std::string& options, std::string_view id) {
  std::vector<std::string> values;
  JsonView(options).ForEach([&](const JsonView& option) {
    if (option["id"].StringOr("") != id) return;
    values.push_back("=" + option["currentValue"].StringOr(""));
    option["options"].ForEach(
        [&](const JsonView& value) { values.push_back(value["value"].StringOr("")); });
  });
  return values;
}

using Names = std::vector<std::string>;

TEST(OptionsTest, ModelsAreThoseThatCanBeAskedAndTheOneInUse) {
  EXPECT_EQ(Values(Options(State()), "model"), (Names{"=custom/m", "custom/m", "near/x"}));
  protocol::LiveState state = State();
  state.model = "far/x";
  EXPECT_EQ(Values(Options(state), "model"), (Names{"=far/x", "near/x", "far/x"}));
}

TEST(OptionsTest, EffortIsAnOptionOnlyWhereTheModelHasLevels) {
  EXPECT_EQ(Values(Options(State()), "effort"), Names());
  protocol::LiveState state = State();
  state.model = "near/x";
  EXPECT_EQ(Values(Options(state), "effort"), (Names{"=default", "default", "low", "high"}));
  state.effort = "low";
  EXPECT_EQ(Values(Options(state), "effort"), (Names{"=low", "low", "high"}));
}

TEST(OptionsTest, BypassIsOfferedOnlyWhereItIsInForce) {
  EXPECT_EQ(Options(State()).find("bypass"), std::string::npos);
  protocol::LiveState state = State();
  state.mode = "bypass";
  EXPECT_NE(Options(state).find(R"("value":"bypass")"), std::string::npos);
}

TEST(OptionsTest, AChoiceChangesWhatItNamesAndNothingWhenItIsSoAlready) {
  EXPECT_EQ(ReadChoice("mode", "plan", State())->mode, "plan");
  EXPECT_EQ(ReadChoice("model", "near/x", State())->model, "near/x");
  EXPECT_EQ(ReadChoice("effort", "high", State())->effort, "high");
  for (const auto& [option, value] :
       {std::pair{"mode", "default"}, {"model", "custom/m"}, {"effort", "default"}})
    EXPECT_EQ(*ReadChoice(option, value, State()), protocol::Change()) << option;
  EXPECT_EQ(ReadChoice("colour", "red", State()).error().message,
            "configId: there is no option colour");
}

}  // namespace
}  // namespace stet::acp
