// `stet` on sessions that have children.
#include <gtest/gtest.h>

#include "base/fs.h"
#include "json/describe.h"
#include "protocol/session.h"
#include "store/session_tree_fixture.h"
#include "tests/scenario/program.h"

namespace stet::scenario {
namespace {

class ChildSessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.MakeRoot("ses_root");
    tree_.MakeChild("ses_root", "ses_child");
    tree_.MakeChild("ses_child", "ses_grandchild");
  }

  std::string Out(const std::vector<std::string>& arguments) {
    const Ran ran = program_.Run(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  }
  static bool Has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  Program program_;
  store::SessionTree tree_{{program_.home(), program_.home()}, program_.work()};
};

TEST_F(ChildSessionsTest, AListShowsRootsAndWithAllChildrenUnderThem) {
  EXPECT_FALSE(Has(Out({"sessions", "ls"}), "ses_child"));
  EXPECT_FALSE(Has(Out({"sessions", "ls", "--json"}), "ses_child"));
  const std::string all = Out({"sessions", "ls", "--all"});
  EXPECT_TRUE(Has(all, "\nses_root ")) << all;
  EXPECT_TRUE(Has(all, "\n  ses_child ")) << all;
  EXPECT_TRUE(Has(all, "[agent agent-ses_grandchild] hello ses_grandchild")) << all;
  const auto rows =
      Decode<std::vector<protocol::SessionSummary>>(Out({"sessions", "ls", "--all", "--json"}));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[2].session_id, "ses_grandchild");
  EXPECT_EQ((*rows)[2].kind, "agent");
  EXPECT_EQ((*rows)[2].parent_session_id, "ses_child");
  EXPECT_EQ((*rows)[2].root_session_id, "ses_root");
}

TEST_F(ChildSessionsTest, EveryVerbThatReadsTakesAChildsId) {
  EXPECT_TRUE(Has(Out({"sessions", "show", "ses_child"}), "hello ses_child"));
  EXPECT_TRUE(Has(Out({"sessions", "tree", "ses_grand"}), "hello ses_grandchild"));
  Out({"sessions", "show", "ses_child", "--cost"});
  Out({"sessions", "capsule", "ses_child"});
  Out({"tasks", "ls", "ses_child"});
  EXPECT_TRUE(Has(Out({"sessions", "verify", "ses_root"}), "2 children"));
  EXPECT_TRUE(Has(Out({"sessions", "du"}), "(with 2 children)"));
}

TEST_F(ChildSessionsTest, AChildIsGoneOnWithWhereItLiesAndNeverChosenByItself) {
  Out({"-p", "-r", "ses_child", "list *.md"});
  EXPECT_FALSE(Exists(program_.SessionDir("ses_child")));
  EXPECT_TRUE(Has(Out({"sessions", "show", "ses_child"}), "list *.md"));
  EXPECT_TRUE(Has(Out({"context", "ses_child", "--wire"}), "list *.md"));
  EXPECT_TRUE(Has(Out({"replay", "ses_child", "--json"}), "\"different\":0"));
  // The child is the newest session by now, and still not the one that is meant.
  Out({"-p", "-c", "list *.txt"});
  EXPECT_TRUE(Has(Out({"sessions", "show", "ses_root"}), "list *.txt"));
  const Ran taken = program_.Run({"-p", "--session-id", "ses_child", "hello"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_TRUE(Has(taken.err, "ses_child is there already")) << taken.err;
}

TEST_F(ChildSessionsTest, AHostOpensAChildWhereItLies) {
  Out({"-p", "--host", "-r", "ses_child", "list *.md"});
  EXPECT_FALSE(Exists(program_.SessionDir("ses_child")));
  EXPECT_TRUE(Has(Out({"sessions", "show", "ses_child"}), "list *.md"));
  Out({"sessions", "rm", "ses_root", "--yes"});
  EXPECT_FALSE(Has(Out({"sessions", "ls", "--all"}), "ses_child")) << "it went with its root";
  Out({"host", "stop"});
}

TEST_F(ChildSessionsTest, ATreeIsRemovedRestoredExportedAndImportedAsOne) {
  const std::string tar = program_.work() + "/tree.tar";
  Out({"sessions", "export", "ses_root", "-o", tar});
  const Ran asked = program_.Run({"sessions", "rm", "ses_child"});
  EXPECT_TRUE(Has(asked.err, "add --yes") || Has(asked.err, "Add --yes")) << asked.err;
  Out({"sessions", "rm", "ses_child", "--yes"});
  EXPECT_TRUE(Has(Out({"sessions", "restore"}), "(a child of ses_root)"));
  Out({"sessions", "restore", "ses_child"});
  Out({"sessions", "rm", "ses_root", "--yes"});
  EXPECT_EQ(Out({"sessions", "import", tar}), "ses_root\n");
  std::string id = Out({"sessions", "import", tar, "--new-id"});
  id.pop_back();
  EXPECT_TRUE(Has(Out({"sessions", "verify", id}), "sound: 2 children"));
  Out({"sessions", "verify", "--all"});
}

TEST_F(ChildSessionsTest, WhatIsWrongWithChildrenIsToldAndTheRestWorks) {
  const std::string agents = program_.SessionDir("ses_root") + "/agents";
  ASSERT_TRUE(ReplaceFile(agents + "/ses_file", "x", Durable::kNo));
  tree_.MakeRoot("ses_other");
  tree_.MakeChild("ses_other", "ses_child");
  const Ran verified = program_.Run({"sessions", "verify", "ses_root"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_TRUE(Has(verified.out, "ses_file is not a folder")) << verified.out;
  EXPECT_TRUE(Has(verified.out, "ses_child: id that several sessions have")) << verified.out;
  const Ran shown = program_.Run({"sessions", "show", "ses_child"});
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_TRUE(Has(shown.err, "ses_other/agents/ses_child")) << shown.err;
  Out({"sessions", "show", "ses_grandchild"});
  Out({"sessions", "ls", "--all"});
}

}  // namespace
}  // namespace stet::scenario
