// Extensions with the real program: the two examples, and one that misbehaves.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/guard/guard_fixture.h"
#include "base/source_dir_fixture.h"
#include "json/view.h"
#include "tests/scenario/scripted_fixture.h"

namespace stet::scenario {
namespace {

class ExtensionsTest : public ScriptedTest {
 protected:
  ExtensionsTest() { EXPECT_TRUE(MakeDirs(program_.home() + "/extensions")); }

  /// One of doc/example/extension.
  void Install(const std::string& id) {
    std::error_code error;
    std::filesystem::copy(SourceDir() + "/doc/example/extension/" + id,
                          program_.home() + "/extensions/" + id, error);
    ASSERT_FALSE(error) << error.message();
  }
  void Write(const std::string& id, const std::string& manifest, const std::string& script) {
    const std::string folder = program_.home() + "/extensions/" + id;
    ASSERT_TRUE(MakeDirs(folder));
    ASSERT_TRUE(ReplaceFile(folder + "/run.sh", script, Durable::kNo));
    ASSERT_TRUE(ReplaceFile(folder + "/extension.toml",
                            "id='" + id + "'\ncommand=['bash','run.sh']\n" + manifest,
                            Durable::kNo));
  }
};

constexpr std::string_view kCount = R"({"replies":[
  {"blocks":[{"call":{"name":"CountWords","args":{"text":"one two three"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

TEST_F(ExtensionsTest, TheExampleInPythonBringsAToolAndKeepsItsStateInTheLog) {
  Install("words");
  Script(kCount);
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "count"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(Request(0).find("Counts the words of a text."), std::string::npos);
  EXPECT_NE(Request(1).find("\"text\":\"3\""), std::string::npos) << Request(1);
  // Its message is stored as it was converted, once.
  const std::string log = Log();
  EXPECT_NE(log.find(R"("kind":"words.count","data":{"words": 3})"), std::string::npos) << log;
  EXPECT_NE(log.find("The user is pleased that 3 words were counted."), std::string::npos) << log;
  EXPECT_NE(Request(1).find("The user is pleased that 3 words"), std::string::npos) << Request(1);
}

TEST_F(ExtensionsTest, ItsToolIsAskedAsAnyEffect) {
  Install("words");
  Script(kCount);
  const Ran ran = Stet({"-p", "--output-format", "json", "count"});
  std::string refused;
  JsonView(ran.out)["permission_denials"].ForEach(
      [&](const JsonView& denial) { refused = denial["tool_name"].StringOr(""); });
  EXPECT_EQ(refused, "CountWords") << ran.out;
}

TEST_F(ExtensionsTest, WhatIsDisabledIsNotThere) {
  Install("words");
  Script(kCount, "[extensions]\ndisabled=['words']\n");
  Stet({"-p", "--permission-mode", "bypass", "count"});
  EXPECT_EQ(Request(0).find("Counts the words"), std::string::npos);
}

TEST_F(ExtensionsTest, TheListSaysWhatThereIsAndWhatRuns) {
  EXPECT_EQ(program_.Run({"extensions", "ls", project_}).out,
            "No extensions are installed, for the user or in this folder.\n");
  Install("words");
  Write("plain", "name='Plain'\nversion='2'\nevents=['turn_finish']\n", "");
  Write("off", "name='Off'\nversion='1'\n", "");
  Write("wrong", "nonsense = 1\n", "");
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml", "[extensions]\ndisabled=['off']\n",
                          Durable::kNo));
  const std::string own = project_ + "/.stet/extensions/plain";
  ASSERT_TRUE(MakeDirs(own));
  ASSERT_TRUE(ReplaceFile(own + "/extension.toml",
                          "id='plain'\nname='Own'\nversion='3'\ncommand=['true']\n", Durable::kNo));
  const Ran shown = program_.Run({"extensions", "ls", project_});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* part : {"CountWords", "plain 2 (Plain)  on", "  events      turn_finish\n",
                           "off 1 (Off)  off: disabled in the configuration",
                           "cannot be used: ", "plain 3 (Own)  off: the project is not trusted"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << "\n" << shown.out;
  EXPECT_EQ(program_.Run({"trust", "--cwd", project_, "extensions"}).exit_code, 0);
  const std::string json = program_.Run({"extensions", "ls", project_, "--json"}).out;
  int active = 0;
  JsonView(json).ForEach([&](const JsonView& row) {
    const bool plain = row["id"].StringOr("") == "plain";
    if (plain) {
      EXPECT_EQ(row["active"].text() == "true", row["version"].StringOr("") == "3") << json;
    }
    active += row["active"].text() == "true" ? 1 : 0;
  });
  EXPECT_EQ(active, 2) << json;
}

TEST_F(ExtensionsTest, TheExampleInNodeDeniesChangesAndHides) {
  Install("guard");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"ls /precious"}}},
               {"call":{"name":"Bash","args":{"command":"echo tok_abc123"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "make the release"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(Request(0).find("A release needs a line in CHANGELOG.md."), std::string::npos)
      << Request(0);
  EXPECT_NE(Request(1).find("The folder /precious is left alone."), std::string::npos)
      << Request(1);
  EXPECT_NE(Request(1).find("tok_***"), std::string::npos) << Request(1);
  const std::string log = Log();
  EXPECT_NE(log.find(R"("by":"extension:guard","item":{"kind":"extension","origin":"extension")"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find(R"("by":"extension:guard","eventIds")"), std::string::npos) << log;
}

constexpr std::string_view kTouch = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"touch out.txt"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

TEST_F(ExtensionsTest, OneThatFailsIsSkippedOrFailsClosed) {
  const char* scripts[] = {"exit 1", "read a; echo garbage; cat", "cat > /dev/null",
                           "read a; head -c 100000000 /dev/zero; cat", "read a; yes '{\"id\":9}'"};
  for (const char* script : scripts) {
    for (const bool closed : {false, true}) {
      Write("bad",
            std::string("timeout=1\nintercepts=['beforeToolCall']\n") +
                (closed ? "fail='closed'\n" : ""),
            script);
      Script(kTouch);
      const Ran ran = Stet({"-p", "--permission-mode", "bypass", "go"});
      EXPECT_EQ(ran.exit_code, 0) << script << ran.err;
      EXPECT_EQ(Exists(project_ + "/out.txt"), !closed) << script << ran.err;
      EXPECT_NE(ran.err.find("extension:bad: "), std::string::npos) << script << ran.err;
      ASSERT_TRUE(RemoveTree(project_ + "/out.txt"));
    }
  }
}

/// Answers transformContext with what `answer` (bash) says of $line; everything else with null.
std::string Transforming(const std::string& answer) {
  return R"(while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  find() { sed "s/.*\"id\":\"\([^\"]*\)\",\"type\":$1.*/\1/" <<< "$line"; }
  result=null
  )" + answer +
         R"(
  echo "{\"id\":$id,\"result\":$result}"
done
)";
}

TEST_F(ExtensionsTest, AResultIsReplacedAndOnlyWholeTurnsAreHidden) {
  Write("short", "intercepts=['transformContext']\n",
        Transforming(R"(case $line in *'"type":"tool_result"'*)
    event=$(find '"tool_result"')
    replace="{\"op\":\"replace\",\"events\":[\"$event\"],\"text\":\"(short)\"}"
    hide="{\"op\":\"hide\",\"from\":\"$event\",\"through\":\"$event\"}"
    result="{\"operations\":[$replace,$hide]}";; esac)"));
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo a long result"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  const Ran ran = Stet({"-p", "--permission-mode", "bypass", "go"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(Request(1).find("(short)"), std::string::npos) << Request(1);
  EXPECT_NE(ran.err.find("extension:short: it may hide only whole turns"), std::string::npos)
      << ran.err;
}

TEST_F(ExtensionsTest, AFinishedTurnIsHidden) {
  Write("hide", "intercepts=['transformContext']\n",
        Transforming(R"(case $line in *'"text":"the first"'*'"text":"the second"'*)
    from=$(find '"user","text":"the first"'); through=$(find '"assistant"')
    result="{\"operations\":[{\"op\":\"hide\",\"from\":\"$from\",\"through\":\"$through\"}]}"
    ;; esac)"));
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})");
  EXPECT_EQ(Stet({"-p", "the first"}).exit_code, 0);
  EXPECT_EQ(Stet({"-p", "-c", "the second"}).exit_code, 0);
  EXPECT_NE(Request(0).find("the first"), std::string::npos);
  EXPECT_EQ(Request(1).find("the first"), std::string::npos) << Request(1);
  EXPECT_NE(Log().find(R"("by":"extension:hide")"), std::string::npos);
}

TEST_F(ExtensionsTest, ItHearsWhatItAskedFor) {
  Write("ear", "events=['session_start','prompt_submit','turn_finish','session_end']\n",
        "cat > heard");
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})");
  EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0);
  const std::string heard =
      ReadFile(program_.home() + "/extensions/ear/heard", 1 << 20).value_or("");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < heard.size();) {
    const std::size_t end = heard.find('\n', at);
    const std::string line = heard.substr(at, end - at);
    at = end + 1;
    const JsonView message(line);
    names.push_back(message["method"].StringOr("") == "event"
                        ? message["params"]["name"].StringOr("")
                        : message["method"].StringOr(""));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"activate", "session_start", "prompt_submit",
                                             "turn_finish", "session_end", "deactivate"}));
}

TEST_F(ExtensionsTest, NothingThatOneStartedOutlivesTheProgram) {
  const std::string mark = "STET_TEST_MARK=" + program_.work();
  Write("fork", "events=['turn_finish']\n",
        "(" + mark + " setsid sleep 1000 &)\ntouch up\ncat > /dev/null");
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})");
  EXPECT_EQ(Stet({"-p", "go"}).exit_code, 0);
  EXPECT_TRUE(Exists(program_.home() + "/extensions/fork/up"));
  EXPECT_EQ(AwaitNone(mark, Deadline::After(std::chrono::seconds(10))), std::vector<pid_t>());
}

TEST_F(ExtensionsTest, AManifestThatIsWrongIsToldAndLeftOut) {
  Write("bad", "fail='maybe'\n", "");
  Script(kTouch);
  const Ran ran = Stet({"-p", "go"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.err.find("an extension is left out"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace stet::scenario
