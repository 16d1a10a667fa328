// Pins, snips and gates at a terminal, and what the command line says of them afterwards.
#include <gtest/gtest.h>

#include "json/view.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

using InteractiveMarksTest = InteractiveTest;

TEST_F(InteractiveMarksTest, PinsAndGatesAreSetShownAndTaken) {
  const auto pty = Ready();
  pty->Type("/pins\r");
  EXPECT_TRUE(pty->Shows("nothing is pinned"));
  pty->Type("/pin never touch main\r");
  EXPECT_TRUE(pty->Shows("pinned as pin_"));
  pty->Type("/pins\r");
  EXPECT_TRUE(pty->Shows("1  pin_"));
  EXPECT_TRUE(pty->Shows("never touch main", 2));
  pty->Type("/unpin 1\r");
  EXPECT_TRUE(pty->Shows("unpinned pin_"));
  pty->Type("/gate finish soon\r");
  EXPECT_TRUE(pty->Shows("a gate is one of finish, write, run"));
  pty->Type("/gate finish test\r");
  EXPECT_TRUE(pty->Shows("gate finish-test is set"));
  pty->Type("/gate\r");
  EXPECT_TRUE(pty->Shows("finish-test: finish wants test (not evaluated yet)"));
  pty->Type("/gate waive finish-test\r");
  EXPECT_TRUE(pty->Shows("a waiver needs a reason"));
  pty->Type("/gate waive finish-test there are none\r");
  EXPECT_TRUE(pty->Shows("waived finish-test"));
  pty->Type("/questions\r");
  EXPECT_TRUE(pty->Shows("no question is open"));
  pty->Type("/plan\r");
  EXPECT_TRUE(pty->Shows("mode: plan"));
  EXPECT_TRUE(pty->Shows("phase: "));
  Quit(*pty);
}

TEST_F(InteractiveMarksTest, ATurnIsSnippedAndShownAgain) {
  const auto pty = Ready();
  pty->Type("/snip\r");
  EXPECT_TRUE(pty->Shows("there is no finished turn yet"));
  pty->Type("read README.md\r");
  EXPECT_TRUE(pty->Rests(1));
  pty->Type("search main\r");
  EXPECT_TRUE(pty->Rests(2));
  pty->Type("/snip\r");
  EXPECT_TRUE(pty->Shows("newest   search main"));
  EXPECT_TRUE(pty->Shows("bytes           read README.md"));
  pty->Type("/snip 1\r");
  EXPECT_TRUE(pty->Shows("no message follows this turn yet"));
  pty->Type("/snip 2\r");
  EXPECT_TRUE(pty->Shows("snipped, about "));
  pty->Type("/snip\r");
  EXPECT_TRUE(pty->Shows("bytes  snipped  read README.md"));
  pty->Type("/unsnip 2\r");
  EXPECT_TRUE(pty->Shows("shown again: \"read README.md\""));
  pty->Type("/context\r");
  EXPECT_TRUE(pty->Shows("tokens of the window"));
  Quit(*pty);
}

TEST_F(InteractiveMarksTest, WithoutATerminalTheResultSaysWhatIsOpen) {
  const auto pty = Ready();
  pty->Type("/pin never touch main\r");
  EXPECT_TRUE(pty->Shows("pinned as pin_"));
  pty->Type("read README.md\r");
  EXPECT_TRUE(pty->Rests(1));
  pty->Type("/gate finish test\r");
  EXPECT_TRUE(pty->Shows("gate finish-test is set"));
  Quit(*pty);
  const Ran text = program_.Run({"-p", "-c", "search main"});
  EXPECT_NE(text.err.find("gate finish-test: finish wants test"), std::string::npos) << text.err;
  const Ran json = program_.Run({"-p", "-c", "--output-format", "json", "search main"});
  const JsonView result(json.out);
  EXPECT_EQ(result["run"]["stop"]["kind"].StringOr(""), "blocked") << json.out;
  EXPECT_EQ(result["run"]["next"]["code"].StringOr(""), "stop") << json.out;
  const Ran plain = program_.Run({"-p", "--output-format", "json", "search main"});
  EXPECT_FALSE(JsonView(plain.out)["run"]) << plain.out;

  const std::string id = result["session_id"].StringOr("");
  const Ran capsule = program_.Run({"sessions", "capsule", id});
  EXPECT_EQ(capsule.exit_code, 0) << capsule.err;
  EXPECT_NE(capsule.out.find("never touch main"), std::string::npos) << capsule.out;
  const Ran data = program_.Run({"sessions", "capsule", id, "--json"});
  EXPECT_EQ(JsonView(data.out)["sessionId"].StringOr(""), id) << data.out;
  const Ran context = program_.Run({"context", id});
  EXPECT_NE(context.out.find("system.baseline"), std::string::npos) << context.out << context.err;
  EXPECT_NE(context.out.find("begins with all"), std::string::npos) << context.out;
  const Ran wire = program_.Run({"context", id, "--wire"});
  EXPECT_TRUE(JsonView(wire.out).is_object()) << wire.out;
  EXPECT_NE(wire.out.find("never touch main"), std::string::npos);
  const Ran count = program_.Run({"context", id, "--count"});
  EXPECT_EQ(count.exit_code, 1) << count.out;
}

}  // namespace
}  // namespace stet::scenario
