#include "tool/registry.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tool/builtin.h"
#include "tool/named_tool.h"

namespace stet::tool {
namespace {

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() {
    for (const char* name : {"Write", "Read", "Bash", "Grep"})
      EXPECT_TRUE(registry_.Add(std::make_unique<NamedTool>(
          name, R"({"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]})")));
  }
  std::string Refusal(std::string_view name, std::string args) {
    const Status status = registry_.Check(name, Raw{std::move(args)});
    return status ? "fine" : status.error().message;
  }

  Registry registry_;
};

TEST_F(RegistryTest, SpecsAreSortedByName) {
  std::string names;
  for (const protocol::ToolSpec& spec : registry_.Specs()) names += spec.name + " ";
  EXPECT_EQ(names, "Bash Grep Read Write ");
}

TEST_F(RegistryTest, ACallThatFitsPasses) { EXPECT_EQ(Refusal("Read", R"({"n":1})"), "fine"); }

TEST_F(RegistryTest, ANameThatStandsTwiceIsRefusedBecauseReadersDiffer) {
  const std::string said = Refusal("Read", R"({"n":1,"n":1})");
  EXPECT_NE(said.find("name \"n\" twice"), std::string::npos) << said;
}

TEST_F(RegistryTest, AnUnknownToolNamesTheNearest) {
  EXPECT_EQ(registry_.Check("read_file", Raw{"{}"}).error().code, Code::kNotFound);
  EXPECT_TRUE(Refusal("reed", "{}").starts_with("There is no tool named reed. Did you mean Read"));
  EXPECT_LT(Refusal(std::string(100'000, 'x'), "{}").size(), 200U);
}

TEST_F(RegistryTest, MalformedJsonIsQuotedWithItsProblem) {
  const std::string refusal = Refusal("Read", R"("{\"n\": 1")");
  EXPECT_NE(refusal.find("not valid JSON"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("byte"), std::string::npos) << refusal;
}

TEST_F(RegistryTest, ArgumentsThatAreNoObjectAreRefused) {
  for (const char* args : {"[1]", "3", "null", R"("{\"n\":1}")"})
    EXPECT_NE(Refusal("Read", args), "fine") << args;
}

TEST_F(RegistryTest, BreachesOfTheSchemaAreListedWithTheirPlaces) {
  EXPECT_NE(Refusal("Read", R"({"n":"x"})").find("- /n: "), std::string::npos);
  EXPECT_NE(Refusal("Read", "{}").find("\n- "), std::string::npos);
}

TEST_F(RegistryTest, ANameIsTakenOnce) {
  EXPECT_EQ(registry_.Add(std::make_unique<NamedTool>("Read")).error().code, Code::kConflict);
  EXPECT_FALSE(registry_.Add(std::make_unique<NamedTool>("Odd", "{")));
}

TEST(BuiltinTest, EveryToolHasAUsableSchemaAndAShortDescription) {
  Registry registry;
  Tasks tasks;
  Shells shells(tasks);
  for (auto& tool : BuiltinTools({.variables = ProcessVariables({}), .shells = shells})) {
    const std::string_view text = tool->description();
    EXPECT_LT(std::ranges::count(text, '\n'), 12) << tool->name();
    const Status added = registry.Add(std::move(tool));
    EXPECT_TRUE(added) << added.error().Text();
  }
}

}  // namespace
}  // namespace stet::tool
