// What commands that print once show on a terminal: nothing that drives it. A pipe gets the bytes.
#include <gtest/gtest.h>

#include "json/view.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

/// A clipboard, a device string, an erased screen, what turns text around, and a link.
constexpr std::string_view kReply = R"({"replies":[{"times":0,"blocks":[{"text":
  "a\u001b]52;c;eA==\u0007b\u001bPq\u001b\\\u009b2Jc\u202ed\u007fe\u001b]8;;x\u0007 caf\u00e9"}]}]})";
constexpr std::string_view kBytes =
    "a\x1b]52;c;eA==\x07"
    "b\x1bPq\x1b\\\u009b2Jc\u202ed\x7f"
    "e\x1b]8;;x\x07 caf\u00e9";
constexpr std::string_view kShown =
    "a\u241b]52;c;eA==\u2407b\u241bPq\u241b\\\uFFFD2Jc\uFFFDd\u2421e\u241b]8;;x\u2407 caf\u00e9";

class TerminalOutputTest : public InteractiveTest {
 protected:
  TerminalOutputTest() { Script(kReply); }

  /// All that a terminal was sent.
  std::string Shown(std::vector<std::string> arguments) const {
    const std::unique_ptr<Pty> pty = Start(std::move(arguments));
    std::string shown = pty->ReadAll();
    EXPECT_EQ(pty->Exit(), 0) << shown;
    return shown;
  }
  static void ExpectHarmless(const std::string& bytes) {
    for (const char* wrong : {"\x1b", "\x07", "\x7f", "\u009b", "\u202e"})
      EXPECT_EQ(bytes.find(wrong), std::string::npos) << bytes;
  }
};

TEST_F(TerminalOutputTest, AnAnswerIsMadeVisible) {
  const std::string shown = Shown({"-p", "go"});
  ExpectHarmless(shown);
  EXPECT_NE(shown.find(kShown), std::string::npos) << shown;
}

TEST_F(TerminalOutputTest, JsonHasEscapesAndStaysTheSameValue) {
  ExpectHarmless(Shown({"-p", "--output-format", "stream-json", "go"}));
  const std::string shown = Shown({"-p", "--output-format", "json", "go"});
  ExpectHarmless(shown);
  const std::size_t begin = shown.find('{');
  ASSERT_NE(begin, std::string::npos) << shown;
  const std::string json = shown.substr(begin, shown.find('\r', begin) - begin);
  EXPECT_EQ(JsonView(json)["result"].StringOr(""), kBytes) << shown;
}

TEST_F(TerminalOutputTest, SessionsAndRequestsAreShownHarmless) {
  ASSERT_EQ(program_.Run({"-p", "--session-id", "origin", "go"}).exit_code, 0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"sessions", "show", "origin", "--json"},
        std::vector<std::string>{"context", "origin", "--wire"}}) {
    const std::string shown = Shown(arguments);
    EXPECT_NE(shown.find("caf\u00e9"), std::string::npos) << shown;
    ExpectHarmless(shown);
  }
}

TEST_F(TerminalOutputTest, APipeGetsTheBytes) {
  EXPECT_EQ(program_.Run({"-p", "--session-id", "origin", "go"}).out, std::string(kBytes) + "\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"-p", "--output-format", "json", "go"},
        std::vector<std::string>{"sessions", "show", "origin", "--json"},
        std::vector<std::string>{"context", "origin", "--wire"}}) {
    const std::string out = program_.Run(arguments).out;
    EXPECT_NE(out.find("\u009b2Jc\u202ed\x7f"), std::string::npos) << out;
  }
}

}  // namespace
}  // namespace stet::scenario
