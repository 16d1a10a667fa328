#include "store/session_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/session_tree_fixture.h"

namespace stet::store {
namespace {

class SessionStoreTest : public SessionTreeTest {};

using Ids = std::vector<std::string>;

TEST_F(SessionStoreTest, RootsAndChildrenOfChildrenAreFoundByTheirIds) {
  MakeRoot("ses_a");
  MakeChild("ses_a", "ses_b");
  MakeChild("ses_b", "ses_c");
  EXPECT_EQ(store_.Find("ses_a"), roots_.sessions() + "/ses_a");
  EXPECT_EQ(store_.Find("ses_b"), roots_.sessions() + "/ses_a/agents/ses_b");
  EXPECT_EQ(store_.Find("ses_c"), roots_.sessions() + "/ses_a/agents/ses_c") << "flat";
  EXPECT_EQ(store_.Locate("ses_c")->root_id, "ses_a");
  EXPECT_EQ(store_.Find("ses_none").error().code, Code::kNotFound);
  EXPECT_EQ(store_.Find("../ses_a").error().code, Code::kInvalid);
  EXPECT_EQ(store_.Ids(), Ids{"ses_a"});
  EXPECT_EQ(store_.ChildIds("ses_a"), (Ids{"ses_b", "ses_c"}));
  EXPECT_EQ(HeaderIn(store_.Find("ses_c").value()).parent_session_id, "ses_b");
}

TEST_F(SessionStoreTest, ARootIsFoundBeforeAnyChildIsLookedFor) {
  MakeRoot("ses_a");
  MakeRoot("ses_b");
  Make(roots_.sessions() + "/ses_a/agents/ses_b", ChildHeader("ses_a", "ses_a", "ses_b"));
  EXPECT_EQ(store_.Find("ses_b"), roots_.sessions() + "/ses_b");
  EXPECT_EQ(store_.Resolve("ses_b"), "ses_b");
}

TEST_F(SessionStoreTest, NamesThatAreNoSessionsAndLinksArePassedOver) {
  MakeRoot("ses_a");
  MakeChild("ses_a", "ses_b");
  const std::string agents = roots_.sessions() + "/ses_a/agents";
  ASSERT_TRUE(MakeDirs(agents + "/not an id"));
  ASSERT_TRUE(ReplaceFile(agents + "/ses_file", "x", Durable::kNo));
  ASSERT_EQ(::symlink("ses_b", (agents + "/ses_link").c_str()), 0);
  ASSERT_EQ(::symlink("ses_a", (roots_.sessions() + "/ses_other").c_str()), 0);
  EXPECT_EQ(store_.ChildIds("ses_a"), Ids{"ses_b"});
  for (const char* id : {"ses_file", "ses_link", "ses_other"})
    EXPECT_EQ(store_.Find(id).error().code, Code::kNotFound) << id;
  EXPECT_NE(store_.Find("ses_other").error().message.find("links are not followed"),
            std::string::npos);
}

TEST_F(SessionStoreTest, AFolderOfChildrenThatIsALinkIsNotFollowed) {
  MakeRoot("ses_a");
  MakeRoot("ses_b");
  MakeChild("ses_a", "ses_c");
  ASSERT_EQ(::symlink("../ses_a/agents", (roots_.sessions() + "/ses_b/agents").c_str()), 0);
  EXPECT_EQ(store_.Locate("ses_c")->root_id, "ses_a");
  EXPECT_EQ(store_.ChildIds("ses_b"), Ids());
}

TEST_F(SessionStoreTest, TwoChildrenWithOneIdAreNotGuessedBetween) {
  MakeRoot("ses_a");
  MakeRoot("ses_b");
  MakeChild("ses_a", "ses_c");
  MakeChild("ses_b", "ses_c");
  for (const Result<std::string>& found :
       {store_.Find("ses_c"), store_.Resolve("ses_c"), store_.Resolve("c")}) {
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::kCorrupt);
    EXPECT_NE(found.error().message.find("ses_a/agents/ses_c"), std::string::npos);
    EXPECT_NE(found.error().message.find("ses_b/agents/ses_c"), std::string::npos);
  }
}

TEST_F(SessionStoreTest, AWholeIdWinsOverLongerOnesAndABeginningMustBeUnique) {
  MakeRoot("ses_x");
  MakeChild("ses_x", "ses_x1");
  MakeChild("ses_x", "ses_y");
  EXPECT_EQ(store_.Resolve("ses_x"), "ses_x");
  EXPECT_EQ(store_.Resolve("y"), "ses_y");
  const Result<std::string> unclear = store_.Resolve("x");
  EXPECT_EQ(unclear.error().code, Code::kConflict);
  EXPECT_NE(unclear.error().message.find("ses_x, ses_x1"), std::string::npos);
  EXPECT_EQ(store_.Resolve("z").error().code, Code::kNotFound);
}

TEST_F(SessionStoreTest, AChosenIdIsRefusedThatARootOrAChildHas) {
  MakeRoot("ses_a");
  MakeChild("ses_a", "ses_b");
  EXPECT_EQ(store_.CheckFree("ses_a").error().code, Code::kConflict);
  EXPECT_EQ(store_.CheckFree("ses_b").error().code, Code::kConflict);
  EXPECT_TRUE(store_.CheckFree("ses_c"));
  EXPECT_EQ(store_.NewChild("ses_a", "ses_b").error().code, Code::kConflict);
  EXPECT_EQ(store_.NewChild("ses_a", "ses_a").error().code, Code::kConflict);
  EXPECT_EQ(store_.NewChild("ses_none", "ses_c").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace stet::store
