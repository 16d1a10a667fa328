// The verbs of client::Sessions on trees of sessions.
#include "host/local/sessions.h"

#include <gtest/gtest.h>

#include "client/await.h"
#include "store/session_tree_fixture.h"

namespace stet::host {
namespace {

using client::Await;

class LocalSessionsTest : public store::SessionTreeTest {
 protected:
  void SetUp() override {
    MakeRoot("ses_a");
    MakeChild("ses_a", "ses_b");
    MakeChild("ses_b", "ses_c");
    MakeRoot("ses_d");
  }
};

TEST_F(LocalSessionsTest, ACloneIsTheSessionAloneAndACloneOfAChildIsARoot) {
  const auto sessions = MakeLocalSessions(roots_);
  const std::string of_root =
      Await(*sessions, &client::Sessions::Clone, "ses_a", std::nullopt).value();
  EXPECT_TRUE(store_.ChildIds(of_root).empty());
  const std::string of_child =
      Await(*sessions, &client::Sessions::Clone, "ses_c", std::nullopt).value();
  EXPECT_FALSE(store_.Locate(of_child)->is_child);
  const protocol::Header header = HeaderIn(store_.Find(of_child).value());
  EXPECT_EQ(header.kind, "chat");
  EXPECT_EQ(header.cloned_from->session_id, "ses_c");
  EXPECT_FALSE(header.parent_session_id || header.root_session_id || header.agent_id);
}

TEST_F(LocalSessionsTest, EveryReaderTakesAChildsId) {
  const auto sessions = MakeLocalSessions(roots_);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Resolve, "c").value(), "ses_c");
  EXPECT_EQ(Await(*sessions, &client::Sessions::Tree, "ses_c")->nodes.size(), 1u);
  EXPECT_TRUE(Await(*sessions, &client::Sessions::Cost, "ses_c"));
  EXPECT_TRUE(Await(*sessions, &client::Sessions::Run, "ses_c"));
  EXPECT_TRUE(Await(*sessions, &client::Sessions::Tasks, "ses_c"));
  std::size_t rows = 0;
  EXPECT_TRUE(Await(*sessions, &client::Sessions::Transcript, "ses_c", std::nullopt,
                    [&](const auto&) { return ++rows > 0; }));
  EXPECT_EQ(rows, 1u);
}

TEST_F(LocalSessionsTest, NoVerbGuessesBetweenTwoChildrenOfOneId) {
  MakeChild("ses_d", "ses_c");
  const auto sessions = MakeLocalSessions(roots_);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Tree, "ses_c").error().code, Code::kCorrupt);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Verify, "ses_c").error().code, Code::kCorrupt);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Remove, "ses_c").error().code, Code::kCorrupt);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Clone, "ses_c", std::nullopt).error().code,
            Code::kCorrupt);
  EXPECT_EQ(Await(*sessions, &client::Sessions::Export, client::ExportWanted{.session_id = "ses_c"})
                .error()
                .code,
            Code::kCorrupt);
  EXPECT_TRUE(Await(*sessions, &client::Sessions::FindGarbage, false))
      << "each is looked after in its root";
}
}  // namespace
}  // namespace stet::host
