// `stet` at a terminal: what is shown, what keys do, and that nothing is lost.
#include <gtest/gtest.h>

#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

constexpr std::string_view kSlowAnswer = R"({"replies":[
  {"blocks":[{"text":"one two three four five six"}],"delta":4,"pauseMs":5,"fault":{"kind":"stall","afterEvents":6}},
  {"times":0,"blocks":[{"text":"Second answer."}]}]})";

TEST_F(InteractiveTest, APromptIsAnsweredAndToolsHaveALineEach) {
  const auto pty = Ready();
  pty->Type("search main then read README.md\r");
  EXPECT_TRUE(pty->Shows("> search main then read README.md"));
  EXPECT_TRUE(pty->Shows("✓ Grep main"));
  EXPECT_TRUE(pty->Shows("✓ Read README.md"));
  EXPECT_TRUE(pty->Shows("2  int main is here"));
  Quit(*pty);
  EXPECT_TRUE(pty->Shows("To go on: stet -r ses_"));
}

TEST_F(InteractiveTest, ThePromptOnTheCommandLineIsSentAtOnce) {
  const auto pty = Start({"read README.md"});
  EXPECT_TRUE(pty->Shows("✓ Read README.md"));
  Quit(*pty);
}

TEST_F(InteractiveTest, WithoutATerminalItSaysWhatToUse) {
  const Ran ran = program_.Run({"hello"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("stet -p"), std::string::npos) << ran.err;
  const Ran picking = program_.Run({"-r"});
  EXPECT_EQ(picking.exit_code, 2) << picking.err;
}

TEST_F(InteractiveTest, AChangeIsShownAndDoneOnlyWhenAllowed) {
  const auto pty = Ready();
  pty->Type("replace hello with bye in README.md\r");
  EXPECT_TRUE(pty->Shows("-hello"));
  EXPECT_TRUE(pty->Shows("+bye"));
  EXPECT_TRUE(pty->Shows("a always in this session: Edit"));
  EXPECT_EQ(Read("README.md"), "# hello\nint main is here\n");
  pty->Type("y");
  EXPECT_TRUE(pty->Shows("✓ Edit README.md"));
  EXPECT_EQ(Read("README.md"), "# bye\nint main is here\n");
  Quit(*pty);
}

TEST_F(InteractiveTest, NoMeansNoAndTheModelHearsWhatToDoInstead) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"touch made"}}}]},
    {"when":{"contains":"use the other one"},"blocks":[{"text":"I heard."}]},
    {"blocks":[{"call":{"name":"Bash","args":{"command":"touch again"}}}]},
    {"blocks":[{"text":"As you say."}]}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("? Bash: touch made"));
  EXPECT_TRUE(pty->Shows("e no, and say what instead"));
  pty->Type("e");
  EXPECT_TRUE(pty->CursorRowIs("what instead?", 14));
  pty->Type("use the other one\r");
  EXPECT_TRUE(pty->Shows("I heard."));
  EXPECT_TRUE(pty->Shows("✗ Bash touch made"));
  pty->Type("once more\r");
  EXPECT_TRUE(pty->Shows("? Bash: touch again"));
  EXPECT_TRUE(pty->Shows("y once"));
  pty->Type("n");
  EXPECT_TRUE(pty->Shows("As you say."));
  EXPECT_FALSE(Exists(program_.work() + "/made"));
  EXPECT_FALSE(Exists(program_.work() + "/again"));
  Quit(*pty);
}

TEST_F(InteractiveTest, WhatIsAllowedForTheSessionIsNotAskedAgain) {
  const auto pty = Ready();
  pty->Type("write a.txt: one\r");
  EXPECT_TRUE(pty->Shows("a always in this session: Write"));
  pty->Type("a");
  EXPECT_TRUE(pty->Shows("a again to allow it in this session: Write"));
  EXPECT_FALSE(Exists(program_.work() + "/a.txt"));
  pty->Type("a");
  EXPECT_TRUE(pty->Shows("✓ Write a.txt"));
  pty->Type("write b.txt: two\r");
  EXPECT_TRUE(pty->Shows("✓ Write b.txt"));
  EXPECT_EQ(Read("b.txt"), "two");
  Quit(*pty);
}

TEST_F(InteractiveTest, WhatWasGrantedIsShownWithItsPlaceAndCanBeForgotten) {
  const auto pty = Ready();
  for (const char* key : {"a", "g"}) {
    pty->Type("write a.txt: one\r");
    EXPECT_TRUE(pty->Shows("g everywhere"));
    pty->Type(key);
    EXPECT_TRUE(pty->Shows("again to allow it"));
    pty->Type(key);
    EXPECT_TRUE(pty->Shows("✓ Write a.txt"));
    pty->Type("/permissions\r");
    EXPECT_TRUE(pty->Shows("allow  Write  the session"));
    EXPECT_EQ(ReadFile(program_.home() + "/rules.toml").value_or("").contains("\"Write\""),
              *key == 'g');
    EXPECT_TRUE(pty->Shows("/permissions forget RULE takes back"));
    pty->Type("/permissions forget Write\r");
    EXPECT_TRUE(pty->Shows("forgotten: Write"));
    pty->Type("\x0c");
  }
  EXPECT_FALSE(ReadFile(program_.home() + "/rules.toml").value_or("").contains("\"Write\""));
  pty->Type("/permissions forget Nothing\r");
  EXPECT_TRUE(pty->Shows("there is no rule Nothing that allows"));
  // Another process that goes on with the session has no grant either.
  Quit(*pty);
  const auto again = Ready({"-c"});
  again->Type("write b.txt: two\r");
  EXPECT_TRUE(again->Shows("g everywhere"));
  again->Type("n");
  EXPECT_TRUE(again->Shows("the user said no"));
  Quit(*again);
}

TEST_F(InteractiveTest, AQuestionIsAnsweredByNumberOrInWords) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"AskUser","args":{"question":"Which colour?","options":[{"label":"red"},{"label":"blue","description":"like the sky"}]}}}]},
    {"when":{"contains":"The user answered: blue"},"blocks":[{"call":{"name":"AskUser","args":{"question":"Why?"}}}]},
    {"when":{"contains":"The user answered: I like it"},"blocks":[{"text":"Good reason."}]}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("2  blue  like the sky"));
  pty->Type("2\r");
  EXPECT_TRUE(pty->Shows("? Why?"));
  pty->Type("I like it\r");
  EXPECT_TRUE(pty->Shows("Good reason."));
  Quit(*pty);
}

TEST_F(InteractiveTest, TextComesAsItIsWrittenAndWhatIsTypedMeanwhileStays) {
  Script(kSlowAnswer);
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("one two"));
  EXPECT_TRUE(pty->Shows("Ctrl-C stops"));
  pty->Type("next thing");
  EXPECT_TRUE(pty->CursorRowIs("> next thing", 12));
  pty->Type("\r");
  EXPECT_TRUE(pty->Shows("queued: next thing"));
  pty->Type("/queue\r");
  EXPECT_TRUE(pty->Shows("1  follows  next thing"));
  pty->Type("\x03");
  EXPECT_TRUE(pty->Shows("(cancelled)"));
  EXPECT_TRUE(pty->Shows("what is queued waits"));
  pty->Type("/queue edit 1 another thing\r");
  EXPECT_TRUE(pty->Shows("1  follows  another thing"));
  pty->Type("/continue\r");
  EXPECT_TRUE(pty->Shows("Second answer."));
  EXPECT_TRUE(pty->Shows("> another thing"));
  Quit(*pty);
}

TEST_F(InteractiveTest, WhatATurnCameToStandsBehindItAlsoWhenTheNextOneFollowsAtOnce) {
  Script(R"({"replies":[
    {"when":{"lastUser":"first"},"blocks":[{"text":"one two three four five six seven eight nine"}],"delta":2,"pauseMs":40},
    {"when":{"lastUser":"second"},"blocks":[{"text":"Another."}]}]})");
  const auto pty = Ready();
  pty->Type("first\r");
  EXPECT_TRUE(pty->Shows("one"));
  pty->Type("second\r");
  EXPECT_TRUE(pty->Shows("queued: second"));
  EXPECT_TRUE(pty->Shows("Another."));
  EXPECT_TRUE(pty->Rests(2));
  const std::string text = pty->screen().Text();
  const std::size_t footer = text.find(" in, ");
  EXPECT_LT(footer, text.find("> second")) << text;
  EXPECT_GT(text.find(" in, ", footer + 1), text.find("Another.")) << text;
  Quit(*pty);
}

TEST_F(InteractiveTest, AChangeOfTheSettingsIsSaidOnce) {
  const auto pty = Ready();
  pty->Type("/mode plan\r");
  EXPECT_TRUE(pty->Shows("mode: plan"));
  pty->Type("/effort high\r");
  EXPECT_TRUE(pty->Shows("effort: high"));
  pty->Type("/effort high\r");
  EXPECT_TRUE(pty->Shows("effort: high", 2)) << "what was so before is said, too";
  pty->Type("/mode\r");
  EXPECT_TRUE(pty->Shows("mode: plan; one of"));
  const std::string text = pty->screen().Text();
  EXPECT_EQ(text.find("mode: plan", text.find("mode: plan") + 1), text.find("mode: plan; one of"))
      << text;
  Quit(*pty);
}

TEST_F(InteractiveTest, WhatWasTypedAheadAnswersNoQuestion) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash",
                        "args":{"command":"touch made","description":"List files"}}}]},
    {"blocks":[{"text":"As you say."}]}]})");
  const auto pty = Ready();
  // All at once: the letters come before the question can be read.
  pty->Type("go\ryyy");
  EXPECT_TRUE(pty->Shows("? Bash: touch made"));
  EXPECT_TRUE(pty->Shows("the model says: List files"));
  EXPECT_TRUE(pty->Shows("(send or clear your line first)"));
  EXPECT_TRUE(pty->CursorRowIs("> yyy", 5));
  EXPECT_FALSE(Exists(program_.work() + "/made"));
  pty->Type("\x15z");
  EXPECT_TRUE(pty->CursorRowIs("> z", 3)) << "a letter that is no choice is not swallowed";
  pty->Type("\x15");
  EXPECT_TRUE(pty->Shows("y once   n no   e no, and say"));
  pty->Type("yes, but wait");
  EXPECT_TRUE(pty->CursorRowIs("> yes, but wait", 15)) << "what comes in one piece is no answer";
  EXPECT_FALSE(Exists(program_.work() + "/made"));
  pty->Type("\x15");
  EXPECT_TRUE(pty->Shows("y once   n no   e no, and say"));
  pty->Type("y");
  EXPECT_TRUE(pty->Shows("As you say."));
  EXPECT_TRUE(Exists(program_.work() + "/made"));
  Quit(*pty);
}

TEST_F(InteractiveTest, ALineWithAnExclamationMarkSteersTheTurn) {
  Script(R"({"replies":[
    {"blocks":[{"text":"looking"},{"call":{"name":"Bash","args":{"command":"touch made"}}}]},
    {"when":{"contains":"only the tests"},"blocks":[{"text":"Only those then."}]}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("? Bash: touch made"));
  pty->Type("!only the tests, yes\r");
  EXPECT_TRUE(pty->Shows("steered: only the tests, yes"));
  EXPECT_FALSE(Exists(program_.work() + "/made")) << "letters of a line answer nothing";
  EXPECT_TRUE(pty->Shows("y once"));
  pty->Type("y");
  EXPECT_TRUE(pty->Shows("Only those then."));
  EXPECT_TRUE(Exists(program_.work() + "/made"));
  Quit(*pty);
}

TEST_F(InteractiveTest, CtrlCStopsTheTurnAndTheNextOneRuns) {
  Script(kSlowAnswer);
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("one two"));
  pty->Type("\x03");
  EXPECT_TRUE(pty->Shows("(cancelled)"));
  pty->Type("more\r");
  EXPECT_TRUE(pty->Shows("Second answer."));
  Quit(*pty);
}

TEST_F(InteractiveTest, CtrlCClearsALineAndTwiceOnAnEmptyOneEnds) {
  const auto pty = Ready();
  pty->Type("half a line");
  EXPECT_TRUE(pty->CursorRowIs("> half a line", 13));
  pty->Type("\x03");
  EXPECT_TRUE(pty->CursorRowIs(">", 2));
  pty->Type("\x03");
  EXPECT_TRUE(pty->Shows("Ctrl-C again ends stet"));
  pty->Type("\x03");
  EXPECT_EQ(pty->Exit(), 130);
}

TEST_F(InteractiveTest, ALongTurnEndsWithABell) {
  more_settings_ = "[ui]\nbellAfterMs = 1\n";
  Script(R"({"replies":[{"times":0,"firstByteMs":20,"blocks":[{"text":"Here."}]}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("Here."));
  EXPECT_TRUE(pty->Rests(1));
  Quit(*pty);
  EXPECT_EQ(pty->screen().bells(), 1u);
  EXPECT_NE(pty->bytes().find("\x1b]9;"), std::string::npos);
}

TEST_F(InteractiveTest, WaitsAreShown) {
  more_settings_ = "[model.retry]\nfirstWaitMs = 1\n";
  Script(R"({"replies":[{"fault":{"kind":"overload"}},{"blocks":[{"text":"Now."}]}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("waiting for the model"));
  EXPECT_TRUE(pty->Shows("Now."));
  Quit(*pty);
}

TEST_F(InteractiveTest, WhatAModelWritesCannotDriveTheTerminal) {
  Script(R"({"replies":[{"blocks":[{"text":"a\u001b[2Jb\u001b]0;title\u0007c"}],"delta":1}]})");
  const auto pty = Ready();
  pty->Type("go\r");
  EXPECT_TRUE(pty->Shows("a␛[2Jb␛]0;title␇c"));
  Quit(*pty);
}

TEST_F(InteractiveTest, AnUnknownCommandIsSaidToBeSo) {
  const auto pty = Ready();
  pty->Type("/modle\r");
  EXPECT_TRUE(pty->Shows("there is no /modle; did you mean /model?"));
  pty->Type("/model\r");
  EXPECT_TRUE(pty->Shows("model: stet/offline"));
  pty->Type("/mode plan\r");
  EXPECT_TRUE(pty->Shows("mode: plan"));
  pty->Type("/compact\r");
  EXPECT_TRUE(pty->Shows("there is too little to compact yet"));
  pty->Type("/cost\r");
  EXPECT_TRUE(pty->Shows("attempts"));
  pty->Type("/quit\r");
  EXPECT_EQ(pty->Exit(), 0);
}

TEST_F(InteractiveTest, TabCompletesACommand) {
  const auto pty = Ready();
  pty->Type("/m\t");
  EXPECT_TRUE(pty->CursorRowIs("> /mode", 7));
  pty->Type("\t");
  EXPECT_TRUE(pty->Shows("/model /mode"));
  pty->Type("l\t");
  EXPECT_TRUE(pty->CursorRowIs("> /model", 9));
  pty->Type("\r");
  EXPECT_TRUE(pty->Shows("model: stet/offline"));
  pty->Type("/help\r");
  EXPECT_TRUE(pty->Shows("Tab completes a command"));
  Quit(*pty);
}

}  // namespace
}  // namespace stet::scenario
