// What is wrong with where sessions lie, beside what is wrong with their logs.
#include "store/verify_tree.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/session_tree_fixture.h"

namespace stet::store {
namespace {

using Ids = std::vector<std::string>;

class VerifyTreeTest : public SessionTreeTest {
 protected:
  void SetUp() override {
    MakeRoot("ses_a");
    MakeChild("ses_a", "ses_b");
  }

  std::string Dir(const std::string& id) { return store_.Find(id).value(); }

  /// "name child" of each, sorted.
  Ids FaultsOf(const std::string& id) {
    const Result<protocol::VerifyReport> report = VerifyTree(store_, id);
    EXPECT_TRUE(report) << report.error().Text();
    Ids names;
    for (const protocol::FaultReport& fault : report->faults)
      names.push_back(fault.name + " " + fault.session_id.value_or("-"));
    std::ranges::sort(names);
    return names;
  }
};

TEST_F(VerifyTreeTest, AHeaderThatNamesAnotherSessionIsTold) {
  ASSERT_TRUE(Rename(Dir("ses_b"), Dir("ses_a") + "/agents/ses_moved"));
  ASSERT_TRUE(Rename(Dir("ses_a"), roots_.sessions() + "/ses_copied"));
  EXPECT_EQ(FaultsOf("ses_copied"),
            (Ids{"foreign_id -", "foreign_id ses_moved", "foreign_root ses_moved"}));
  EXPECT_EQ(FaultsOf("ses_moved"), (Ids{"foreign_id -", "foreign_root -"}));
}

TEST_F(VerifyTreeTest, AChildAmongTheRootsIsTold) {
  ASSERT_TRUE(Rename(Dir("ses_b"), roots_.sessions() + "/ses_b"));
  EXPECT_EQ(FaultsOf("ses_b"), Ids{"child_as_root -"});
  ASSERT_TRUE(store_.Remove("ses_a"));
  EXPECT_NE(VerifyTree(store_, "ses_b")->faults[0].detail.find("ses_a is not there"),
            std::string::npos);
}

TEST_F(VerifyTreeTest, AChildWhoseRootHasNoLogIsTold) {
  ASSERT_TRUE(Remove(log::Paths{Dir("ses_a")}.events()));
  EXPECT_EQ(FaultsOf("ses_b"), Ids{"missing_root -"});
}

TEST_F(VerifyTreeTest, ChildrenInAChildsFolderAreTold) {
  ASSERT_TRUE(MakeDirs(Dir("ses_b") + "/agents/ses_c"));
  EXPECT_EQ(FaultsOf("ses_a"), Ids{"nested_agents ses_b"});
  EXPECT_EQ(FaultsOf("ses_b"), Ids{"nested_agents -"});
}

TEST_F(VerifyTreeTest, LinksAndFifosInASessionsFolderAreTold) {
  ASSERT_TRUE(RemoveTree(Dir("ses_a") + "/blobs"));
  ASSERT_EQ(::symlink("agents/ses_b/blobs", (Dir("ses_a") + "/tasks").c_str()), 0);
  ASSERT_TRUE(Remove(log::Paths{Dir("ses_b")}.index()));
  ASSERT_EQ(::mkfifo(log::Paths{Dir("ses_b")}.index().c_str(), 0600), 0);
  EXPECT_EQ(FaultsOf("ses_a"), (Ids{"missing_blob -", "not_plain -", "not_plain ses_b"}));
}

}  // namespace
}  // namespace stet::store
