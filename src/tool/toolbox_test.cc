#include "tool/toolbox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tool/builtin.h"
#include "tool/named_tool.h"

namespace stet::tool {
namespace {

ToolSource Source(std::string name, const std::vector<std::string>& tools) {
  ToolSource source;
  source.name = std::move(name);
  for (const std::string& tool : tools) source.tools.push_back(std::make_unique<NamedTool>(tool));
  return source;
}

ToolSource Output(const std::string& schema) {
  ToolSource source{.name = "the output schema", .asked = true};
  source.tools.push_back(MakeStructuredOutputTool(schema, nullptr));
  return source;
}

constexpr const char* kAnswer = R"({"type":"object"})";

/// The built-in tools of these tests, and an extension's.
Toolbox Box(Selection selection = {}, bool with_extension = true) {
  Toolbox box(std::move(selection));
  ToolSource builtin = Source("stet", {"Write", "Read", "WebFetch", "Bash"});
  builtin.trimmed = true;
  EXPECT_TRUE(box.Add(std::move(builtin)));
  if (with_extension) {
    EXPECT_TRUE(box.Add(Source("an extension", {"Lint"})));
  }
  return box;
}

std::string Names(const Toolset& toolset) {
  return fmt::format("{}", fmt::join(toolset.names(), " "));
}

TEST(ToolboxTest, AToolsetHasTheToolsOfAllSourcesByName) {
  EXPECT_EQ(Names(Box().Assemble(false)), "Bash Lint Read WebFetch Write");
}

TEST(ToolboxTest, AnOptionThatNamesWhatIsNoToolIsAnErrorThatListsThem) {
  Toolbox box = Box({.only = {{"Raed"}}});
  const Status none = box.CheckOption(box.Assemble(false));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kInvalid);
  EXPECT_NE(none.error().message.find("no tool named Raed. There are: Write, Read"),
            std::string::npos)
      << none.error().message;
  Toolbox some = Box({.only = {{"Read", "Nope"}}});
  const Status one = some.CheckOption(some.Assemble(false));
  ASSERT_FALSE(one) << "a session is held to its tools: one that was mistyped would be missed";
  EXPECT_TRUE(one.error().message.starts_with("--tools: there is no tool named Nope. There are: "))
      << one.error().message;
  Toolbox empty = Box({.only = std::vector<std::string>()});
  EXPECT_TRUE(empty.CheckOption(empty.Assemble(false))) << "no tools at all may be wanted";
  Toolbox all = Box({.only = {{"default"}}});
  EXPECT_TRUE(all.CheckOption(all.Assemble(false)));
  EXPECT_EQ(Names(all.Assemble(false)), "Bash Lint Read WebFetch Write");
}

TEST(ToolboxTest, ASelectionLeavesToolsOutWhateverTheirSource) {
  EXPECT_EQ(Names(Box({.only = {{"Lint", "Read", "Gone"}}}).Assemble(false)), "Lint Read");
  EXPECT_EQ(Names(Box({.disabled = {"Lint", "Bash"}}).Assemble(false)), "Read WebFetch Write");
  EXPECT_EQ(Names(Box({.only = {{}}}).Assemble(false)), "");
}

TEST(ToolboxTest, ASmallWindowSeesTheFewMostUsefulAndWhatTheUserAdded) {
  EXPECT_EQ(Names(Box().Assemble(true)), "Bash Lint Read Write");
  EXPECT_TRUE(IsSmallWindow(8'000));
  EXPECT_FALSE(IsSmallWindow(16'000));
  EXPECT_FALSE(IsSmallWindow(0)) << "a window that is not known is not small";
}

TEST(ToolboxTest, ANameStaysWithTheSourceThatHadItFirst) {
  Toolbox box = Box();
  EXPECT_TRUE(box.Add(Source("another extension", {"Read", "More"})));
  EXPECT_EQ(Names(box.Assemble(false)), "Bash Lint More Read WebFetch Write");
  EXPECT_EQ(box.notes(), (std::vector<std::string>{"the tool Read of another extension is left "
                                                   "out: two tools are named Read"}));
}

TEST(ToolboxTest, WhatTheUserAsksForIsThereOrAnError) {
  Toolbox box = Box({.only = {{"Read"}}});
  EXPECT_TRUE(box.Add(Output(kAnswer)));
  EXPECT_EQ(Names(box.Assemble(true)), "Read StructuredOutput");
  EXPECT_FALSE(Box().Add(Output("{")));
}

TEST(ToolboxTest, SettingsAndSourcesAreNoReasonForAnotherToolset) {
  const Toolset frozen = Box().Assemble(false);
  EXPECT_FALSE(Box().OptionsDiffer(false, frozen));
  EXPECT_FALSE(Box({.disabled = {"Bash"}}, false).OptionsDiffer(false, frozen));
  Toolbox more = Box();
  EXPECT_TRUE(more.Add(Source("another extension", {"More"})));
  EXPECT_FALSE(more.OptionsDiffer(false, frozen));
}

TEST(ToolboxTest, OptionsThatAskForOtherToolsAre) {
  const Toolset all = Box().Assemble(false);
  const Selection two{.only = {{"Lint", "Read"}}};
  EXPECT_TRUE(Box(two).OptionsDiffer(false, all));
  const Toolset frozen = Box(two).Assemble(false);
  EXPECT_FALSE(Box(two).OptionsDiffer(false, frozen)) << "the same option again";
  EXPECT_FALSE(Box({.only = {{"Read", "Lint"}}}).OptionsDiffer(false, frozen));
  EXPECT_FALSE(Box(two, false).OptionsDiffer(false, frozen)) << "Lint is gone, and still asked for";
  EXPECT_FALSE(Box().OptionsDiffer(false, frozen)) << "without an option it stays";
  EXPECT_TRUE(Box({.only = {{"Read"}}}).OptionsDiffer(false, frozen));
  EXPECT_TRUE(Box({.only = {{"Read", "Lint", "Bash"}}}).OptionsDiffer(false, frozen));
}

TEST(ToolboxTest, TheToolForTheAnswerComesChangesAndGoesWithItsOption) {
  Toolbox box = Box();
  EXPECT_TRUE(box.Add(Output(kAnswer)));
  EXPECT_TRUE(box.OptionsDiffer(false, Box().Assemble(false)));
  const Toolset frozen = box.Assemble(false);
  EXPECT_FALSE(box.OptionsDiffer(false, frozen));
  Toolbox other = Box();
  EXPECT_TRUE(other.Add(Output(R"({"type":"object","required":["a"]})")));
  EXPECT_TRUE(other.OptionsDiffer(false, frozen));
  EXPECT_TRUE(Box().OptionsDiffer(false, frozen));
}

TEST(ToolboxTest, AToolThatIsGoneSaysSoAndOneThatCameLaterIsNotThere) {
  const Toolset frozen = Box().Assemble(false);
  Toolbox box = Box({.disabled = {"Bash"}}, false);
  EXPECT_TRUE(box.Add(Source("an extension", {"More"})));
  const Error gone = box.Check(frozen, "Lint", Raw{"[]"}).error();
  EXPECT_EQ(gone.code, Code::kUnavailable);
  EXPECT_TRUE(gone.message.starts_with("The tool Lint is not available any more")) << gone.message;
  EXPECT_EQ(box.Check(frozen, "Bash", Raw{"{}"}).error().code, Code::kUnavailable);
  EXPECT_EQ(box.Check(frozen, "More", Raw{"{}"}).error().code, Code::kNotFound);
  EXPECT_EQ(box.Find(frozen, "More"), nullptr);
  EXPECT_EQ(box.Find(frozen, "Bash"), nullptr);
  EXPECT_NE(box.Find(frozen, "Read"), nullptr);
}

TEST(ToolboxTest, ACallMustFitWhatWasShownAndTheToolAsItIsNow) {
  const auto with = [](const std::string& schema) {
    Toolbox box;
    ToolSource source;
    source.tools.push_back(std::make_unique<NamedTool>("Lint", schema));
    EXPECT_TRUE(box.Add(std::move(source)));
    return box;
  };
  const Toolset shown = with(R"({"type":"object","required":["old"]})").Assemble(false);
  const Toolbox now = with(R"({"type":"object","required":["new"]})");
  EXPECT_TRUE(now.Check(shown, "Lint", Raw{R"({"old":1,"new":1})"}));
  EXPECT_EQ(now.Check(shown, "Lint", Raw{R"({"new":1})"}).error().code, Code::kInvalid);
  EXPECT_EQ(now.Check(shown, "Lint", Raw{R"({"old":1})"}).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::tool
