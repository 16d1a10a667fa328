#include "tui/asked_text.h"

#include <gtest/gtest.h>

#include "json/writer.h"

namespace stet::tui {
namespace {

protocol::PermissionAsk AskFor(const std::string& command, const std::string& description = "") {
  protocol::PermissionAsk ask;
  ask.tool = "Bash";
  ask.summary = "List files";
  ask.args.text.clear();
  JsonWriter writer(ask.args.text);
  writer.BeginObject().Member("command", command);
  if (!description.empty()) writer.Member("description", description);
  writer.EndObject();
  return ask;
}

std::string TextOf(const protocol::PermissionAsk& ask) {
  return PermissionText(ask, face::Console()).text;
}

TEST(AskedTextTest, TheCommandIsShownAndWhatTheModelSaysOfItIsItsClaim) {
  protocol::PermissionAsk ask = AskFor("rm -rf ~/important", "List files");
  ask.confined = false;
  ask.reason = "rm deletes files";
  EXPECT_EQ(TextOf(ask),
            "? Bash: rm -rf ~/important\n"
            "  the model says: List files\n"
            "  it would run outside of any sandbox, as you\n"
            "  rm deletes files\n");
}

TEST(AskedTextTest, EveryLineOfACommandIsShown) {
  EXPECT_EQ(TextOf(AskFor("cat <<E\nx\nE\nrm -rf y")),
            "? Bash:\n  cat <<E\n  x\n  E\n  rm -rf y\n");
}

TEST(AskedTextTest, OfVeryManyLinesTheBeginningAndTheEndAreShownAndTheRestIsCounted) {
  std::string command;
  for (int line = 0; line < 60; ++line) command += "echo " + std::to_string(line) + "\n";
  const AskedText asked = PermissionText(AskFor(command), face::Console());
  EXPECT_TRUE(asked.folded);
  EXPECT_TRUE(
      asked.text.contains("  echo 39\n  ... 10 more lines are not shown here; o shows all "
                          "...\n  echo 50\n"))
      << asked.text;
  EXPECT_TRUE(WholeCommand(AskFor(command)).contains("  echo 45\n"));
}

TEST(AskedTextTest, ControlsInACommandAreMadeVisible) {
  EXPECT_FALSE(TextOf(AskFor("echo \x1b[2K\rsafe")).contains('\x1b'));
}

}  // namespace
}  // namespace stet::tui
