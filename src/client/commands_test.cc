#include "client/commands.h"

#include <set>

#include <gtest/gtest.h>

namespace stet::client {
namespace {

using Kind = ParsedLine::Kind;

ParsedLine InTerminal(std::string_view line) {
  return ParseLine(line, Face::kTerminal, {"deploy", "model"});
}

TEST(Commands, EveryRowHasANameOfItsOwnAFaceAndOneLineOfHelp) {
  std::set<std::string_view> names;
  for (const CommandRow& row : kCommands) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(ParseLine(std::string("/").append(row.name), Face::kTerminal, {}).name, row.name);
    EXPECT_TRUE(row.in_terminal || row.in_acp) << row.name;
    ASSERT_FALSE(row.help.empty()) << row.name;
    EXPECT_TRUE(row.help[0] >= 'a' && row.help[0] <= 'z') << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.name;
  }
}

struct NamedHandler {
  std::string_view name;
};

TEST(Commands, AFaceThatHandlesTooFewTooManyOrOtherCommandsIsFound) {
  using Six = std::array<NamedHandler, 6>;
  constexpr Six kRight = {{{"compact"}, {"continue"}, {"pin"}, {"pins"}, {"unpin"}, {"title"}}};
  constexpr Six kOther = {{{"compact"}, {"continue"}, {"pin"}, {"pins"}, {"unpin"}, {"cost"}}};
  constexpr Six kTwice = {{{"compact"}, {"continue"}, {"pin"}, {"pins"}, {"unpin"}, {"pin"}}};
  constexpr std::array<NamedHandler, 1> kFew = {{{"compact"}}};
  constexpr std::array<NamedHandler, 7> kMany = {
      {{"compact"}, {"continue"}, {"pin"}, {"pins"}, {"unpin"}, {"title"}, {"cost"}}};
  EXPECT_TRUE(HandlesAll(kRight, Face::kAcp));
  EXPECT_FALSE(HandlesAll(kRight, Face::kTerminal));
  EXPECT_FALSE(HandlesAll(kOther, Face::kAcp));
  EXPECT_FALSE(HandlesAll(kTwice, Face::kAcp));
  EXPECT_FALSE(HandlesAll(kFew, Face::kAcp));
  EXPECT_FALSE(HandlesAll(kMany, Face::kAcp));
}

TEST(Commands, ACommandIsOneWordOfLetters) {
  EXPECT_EQ(InTerminal("/model  a/b "), (ParsedLine{Kind::kCommand, "model", "a/b"}));
  EXPECT_EQ(InTerminal("  /quit"), (ParsedLine{Kind::kCommand, "quit"}));
  EXPECT_EQ(InTerminal("/pin\r\none\ntwo"), (ParsedLine{Kind::kCommand, "pin", "one\ntwo"}));
  for (const char* message : {"/usr/bin is full", "/", "// comment", "/Model", "no", ""})
    EXPECT_EQ(InTerminal(message), ParsedLine()) << message;
}

TEST(Commands, ACommandOfAnExtensionIsKnownByItsName) {
  EXPECT_EQ(InTerminal("/deploy now"), (ParsedLine{Kind::kExtension, "deploy", "now"}));
  EXPECT_EQ(ParseLine("/deploy now", Face::kTerminal, {}).kind, Kind::kUnknown);
}

TEST(Commands, AFaceKnowsItsOwnRowsOnly) {
  EXPECT_EQ(ParseLine("/cost", Face::kTerminal, {}).kind, Kind::kCommand);
  EXPECT_EQ(ParseLine("/cost", Face::kAcp, {}).kind, Kind::kUnknown);
  EXPECT_EQ(ParseLine("/cost", Face::kAcp, {"cost"}).kind, Kind::kExtension);
  EXPECT_EQ(ParseLine("/title x", Face::kAcp, {}).kind, Kind::kCommand);
}

TEST(Commands, TheNearestNameIsSuggestedAndNothingFarAway) {
  EXPECT_EQ(InTerminal("/modle x"), (ParsedLine{Kind::kUnknown, "modle", "x", "model"}));
  EXPECT_EQ(InTerminal("/exprot").nearest, "export");
  EXPECT_EQ(InTerminal("/con").nearest, "context");
  EXPECT_EQ(InTerminal("/depoly").nearest, "deploy");
  EXPECT_EQ(InTerminal("/frobnicate"), (ParsedLine{Kind::kUnknown, "frobnicate"}));
  EXPECT_EQ(InTerminal("/" + std::string(10'000, 'x')).nearest, "");
  EXPECT_EQ(ParseLine("/exprot", Face::kAcp, {}).nearest, "");
}

TEST(Commands, TheBeginningOfANameIsCompleted) {
  const auto complete = [](std::string_view line) {
    return CompletionsOf(line, Face::kTerminal, {"deploy", "model"});
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(complete("/mo"), Names({"model", "mode"}));
  EXPECT_EQ(complete("/de"), Names({"deploy"}));
  EXPECT_EQ(complete("/").size(), kCommands.size() + 1);
  EXPECT_EQ(complete("/x"), Names());
  EXPECT_EQ(complete("mo"), Names());
  EXPECT_EQ(complete("/model a"), Names());
  EXPECT_EQ(CompletionsOf("/co", Face::kAcp, {}), Names({"continue", "compact"}));
}

}  // namespace
}  // namespace stet::client
