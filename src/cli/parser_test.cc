#include "cli/parser.h"

#include <memory>

#include <gtest/gtest.h>

#include "face/exit_codes.h"

namespace stet::cli {
namespace {

/// A program with a verb that must be named with one of two below it.
class ParserTest : public testing::Test {
 protected:
  ParserTest() {
    const auto nothing = [](const VerbEnvironment&) -> Result<int> { return face::kExitDone; };
    program_ = {.name = "stet", .help = "Helps.", .run = nothing};
    program_.options = {{"--tools", &tools_, "Which"}, {"prompt", &prompt_, "What"}};
    program_.verbs = {
        {.name = "box",
         .help = "Boxes.",
         .verbs = {{.name = "open",
                    .help = "Opens one.",
                    .options =
                        {{.names = "NAME",
                          .target = &name_,
                          .help = "Which",
                          .required = true,
                          .check = OneOf{"red", "blue"}},
                         {"--wide", &wide_, "All the way"},
                         {.names = "--by", .target = &by_, .help = "So far", .excludes = "--wide"}},
                    .run = nothing},
                   {.name = "shut", .help = "Shuts one.", .run = nothing, .wrong = [] {
                      return std::string("it is shut");
                    }}}}};
  }

  /// The name of the verb, or what is said instead.
  std::string Parse(std::vector<const char*> words) {
    words.insert(words.begin(), "stet");
    const auto parsed = ParseArguments(program_, static_cast<int>(words.size()), words.data());
    if (const auto* verb = std::get_if<const Verb*>(&parsed)) return (*verb)->name;
    const Answer& answer = std::get<Answer>(parsed);
    EXPECT_EQ(answer.exit_code, face::kExitUsage);
    return answer.text.substr(0, answer.text.find('\n'));
  }

  Verb program_;
  std::string tools_ = "as before";
  std::string prompt_;
  std::string name_;
  bool wide_ = false;
  std::optional<std::int64_t> by_;
};

TEST_F(ParserTest, TheInnermostVerbIsChosenAndItsValuesFilled) {
  EXPECT_EQ(Parse({"box", "open", "red", "--by", "3"}), "open");
  EXPECT_EQ(name_, "red");
  EXPECT_EQ(by_, 3);
  EXPECT_FALSE(wide_);
}

TEST_F(ParserTest, AnEmptyValueBehindAnEqualsSignIsOneAndTakesNoOtherWord) {
  EXPECT_EQ(Parse({"--tools=", "go"}), "stet");
  EXPECT_EQ(tools_, "");
  EXPECT_EQ(prompt_, "go");
  EXPECT_EQ(Parse({"--tools=a=", "go"}), "stet");
  EXPECT_EQ(tools_, "a=");
  EXPECT_EQ(Parse({"--", "--tools="}), "stet");
  EXPECT_EQ(prompt_, "--tools=") << "no option behind --";
}

TEST_F(ParserTest, WithoutAVerbTheProgramItselfIsMeant) { EXPECT_EQ(Parse({}), "stet"); }

TEST_F(ParserTest, AVerbThatDoesNothingAloneNeedsOneBelowIt) {
  EXPECT_EQ(Parse({"box"}), "stet: A subcommand is required");
  EXPECT_EQ(Parse({"box", "burn"}), "stet: `stet box` has no verb burn: write open, shut");
  EXPECT_EQ(Parse({"box", "opne"}),
            "stet: `stet box` has no verb opne (did you mean open?): write open, shut");
}

TEST_F(ParserTest, AWordThatIsNearlyAVerbIsNamed) {
  program_.options = {{"prompt", &name_, "What to do"}, {"--as", &name_, "A name"}};
  EXPECT_EQ(Parse({"boxes", "open"}),
            "stet: there is no verb boxes: did you mean `stet box`? A prompt is one argument: "
            "quote it");
  EXPECT_EQ(Parse({"--as", "boxes", "refactor", "it"}),
            "stet: The following argument was not expected: it");
}

TEST_F(ParserTest, TheHelpOfAVerbSaysAllThatIsTyped) {
  const std::vector<const char*> words = {"stet", "box", "open", "--help"};
  const auto parsed = ParseArguments(program_, 4, words.data());
  EXPECT_NE(std::get<Answer>(parsed).text.find("Usage: stet box open [OPTIONS] NAME\n"),
            std::string::npos)
      << std::get<Answer>(parsed).text;
}

TEST_F(ParserTest, WhatDoesNotGoTogetherIsWrongUsage) {
  EXPECT_EQ(Parse({"box", "open", "blue", "--wide", "--by", "3"}), "stet: --wide excludes --by");
  EXPECT_EQ(Parse({"box", "open", "green"}), "stet: NAME: green not in {red,blue}");
  EXPECT_EQ(Parse({"box", "shut"}), "stet: it is shut");
}

}  // namespace
}  // namespace stet::cli
