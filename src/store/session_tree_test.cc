// Trees of sessions in a store: listing, trash, disk use, garbage, checks, export and import.

#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "log/paths.h"
#include "store/garbage.h"
#include "store/session_tree_fixture.h"
#include "store/transfer.h"
#include "store/verify_tree.h"

namespace stet::store {
namespace {

using Ids = std::vector<std::string>;
using protocol::GarbageItem;

Ids IdsOf(const std::vector<protocol::SessionSummary>& rows) {
  Ids ids;
  for (const protocol::SessionSummary& row : rows) ids.push_back(row.session_id);
  return ids;
}

/// "name child" of each, sorted.
Ids FaultsOf(const Result<protocol::VerifyReport>& report) {
  EXPECT_TRUE(report) << report.error().Text();
  Ids names;
  for (const protocol::FaultReport& fault : report->faults)
    names.push_back(fault.name + " " + fault.session_id.value_or("-"));
  std::ranges::sort(names);
  return names;
}

class TreeTest : public SessionTreeTest {
 protected:
  void SetUp() override {
    MakeRoot("ses_a");
    MakeChild("ses_a", "ses_b");
    MakeChild("ses_b", "ses_c");
    MakeRoot("ses_d");
  }

  std::string Dir(const std::string& id) { return store_.Find(id).value(); }
  std::string Agents(const std::string& root) { return log::Paths{Dir(root)}.agents(); }

  /// A task of that session that worked in another one.
  void AddTask(const std::string& id, const std::string& session_id) {
    const std::unique_ptr<log::Log> log = Write(id);
    protocol::Task task;
    task.task_id = "agent-1";
    task.kind = "agent";
    task.phase = "start";
    task.session_id = session_id;
    ASSERT_TRUE(log->Append({{.payload = std::move(task)}}));
    ASSERT_TRUE(log->Close());
  }

  /// What the first task of that session worked in.
  std::string TaskSession(const std::string& dir) {
    const Result<std::unique_ptr<log::Log>> log = log::Log::Open(dir, {});
    for (log::Ordinal at = 0; at < (*log)->index().entries().size(); ++at) {
      const protocol::Event event = (*log)->EventAt(at).value();
      if (const auto* task = std::get_if<protocol::Task>(&event.payload))
        return task->session_id.value_or("");
    }
    return "";
  }

  std::string ExportTar(const std::string& id) {
    const std::string tar = home_.Sub(id + ".tar");
    const Status done = Export(store_, id, client::ExportFormat::kTar, tar, -1, /*reveal=*/true);
    EXPECT_TRUE(done) << done.error().Text();
    return tar;
  }

  std::string AddGarbage(const std::string& id) {
    return log::Blobs(log::Paths{Dir(id)}.blobs()).Put("no event names this in " + id).value();
  }
};

TEST_F(TreeTest, ListShowsRootsAndWithAllTheirChildrenBehindThem) {
  auto rows = store_.List().value();
  Ids ids = IdsOf(rows);
  std::ranges::sort(ids);
  EXPECT_EQ(ids, (Ids{"ses_a", "ses_d"}));
  rows = store_.List(true).value();
  ids = IdsOf(rows);
  const auto root = std::ranges::find(ids, "ses_a");
  ASSERT_LE(root + 3, ids.end());
  EXPECT_EQ(Ids(root, root + 3), (Ids{"ses_a", "ses_b", "ses_c"}));
  const protocol::SessionSummary& child = rows[static_cast<std::size_t>(root - ids.begin()) + 2];
  EXPECT_EQ(child.kind, "agent");
  EXPECT_EQ(child.parent_session_id, "ses_b");
  EXPECT_EQ(child.root_session_id, "ses_a");
  EXPECT_EQ(child.agent_id, "agent-ses_c");
  EXPECT_EQ(store_.Describe("ses_c")->root_session_id, "ses_a");
}

TEST_F(TreeTest, ARemovedRootTakesItsChildrenAlongAndBringsThemBack) {
  ASSERT_TRUE(store_.Remove("ses_a"));
  EXPECT_EQ(store_.Find("ses_b").error().code, Code::kNotFound);
  MakeChild("ses_d", "ses_b");
  EXPECT_EQ(store_.Restore("ses_a").error().code, Code::kConflict) << "a child's id is taken";
  ASSERT_TRUE(store_.Remove("ses_b"));
  EXPECT_EQ(store_.Restore("ses_a"), "ses_a");
  EXPECT_EQ(store_.ChildIds("ses_a"), (Ids{"ses_b", "ses_c"}));
}

TEST_F(TreeTest, AChildThatIsRemovedAloneComesBackToWhereItLay) {
  ASSERT_TRUE(store_.Remove("ses_c"));
  EXPECT_EQ(store_.ChildIds("ses_a"), Ids{"ses_b"});
  const auto rows = store_.Trash().value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].root_session_id, "ses_a");
  ASSERT_TRUE(store_.Remove("ses_a"));
  const Result<std::string> early = store_.Restore("ses_c");
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("restore that first"), std::string::npos);
  ASSERT_TRUE(store_.Restore("ses_a"));
  EXPECT_EQ(store_.Restore("ses_c"), "ses_c");
  EXPECT_EQ(store_.Find("ses_c"), roots_.sessions() + "/ses_a/agents/ses_c");
}

TEST_F(TreeTest, ATreeIsNotRemovedWhileAChildOfItIsWritten) {
  const std::unique_ptr<log::Log> writing = Write("ses_c");
  const Status refused = store_.Remove("ses_a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_NE(refused.error().message.find("ses_c"), std::string::npos);
  EXPECT_NE(refused.error().message.find(std::to_string(::getpid())), std::string::npos);
  EXPECT_TRUE(Write("ses_a")) << "its lock was given up again";
  EXPECT_TRUE(store_.Remove("ses_b")) << "another child may go";
}

TEST_F(TreeTest, DiskUseCountsATreeAsOneRow) {
  const protocol::DiskUseReport report = store_.DiskUse().value();
  ASSERT_EQ(report.sessions.size(), 2u);
  const auto& tree = report.sessions[0];
  EXPECT_EQ(tree.session_id, "ses_a");
  EXPECT_EQ(tree.children, 2u);
  EXPECT_EQ(tree.total_bytes, DiskUse(Dir("ses_a")).value());
  EXPECT_EQ(tree.log_bytes, 3 * report.sessions[1].log_bytes) << "the logs are of one block each";
}

TEST_F(TreeTest, GarbageOfChildrenIsFoundAndCollected) {
  AddGarbage("ses_a");
  const std::string in_child = AddGarbage("ses_c");
  const std::vector<GarbageItem> items = FindGarbage(store_, false).value();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].session_id, "ses_a");
  EXPECT_EQ(items[1].session_id, "ses_c");
  EXPECT_EQ(items[1].path, Dir("ses_c") + "/blobs/" + in_child);
  EXPECT_TRUE(Collect(store_, items));
  EXPECT_FALSE(Exists(items[0].path));
  EXPECT_FALSE(Exists(items[1].path));
  EXPECT_TRUE(VerifyTree(store_, "ses_a")->sound) << "what events name is still there";
}

TEST_F(TreeTest, GarbageOfATreeThatIsWrittenIsLeftAndTheWriterNamed) {
  AddGarbage("ses_a");
  const std::vector<GarbageItem> before = FindGarbage(store_, false).value();
  const std::unique_ptr<log::Log> writing = Write("ses_b");
  const std::vector<GarbageItem> items = FindGarbage(store_, false).value();
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].kind, "held");
  EXPECT_EQ(items[0].session_id, "ses_b");
  EXPECT_EQ(items[0].held_by, ::getpid());
  EXPECT_EQ(Collect(store_, items), 0u);
  const auto refused = Collect(store_, before);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_NE(refused.error().message.find("ses_b"), std::string::npos);
  EXPECT_TRUE(Exists(before[0].path));
}

TEST_F(TreeTest, VerifyCountsChildrenInAndTellsWhatIsWrongWithThem) {
  protocol::VerifyReport report = VerifyTree(store_, "ses_a").value();
  EXPECT_TRUE(report.sound);
  EXPECT_EQ(report.children, 2u);
  EXPECT_EQ(report.blobs, 3u);
  EXPECT_EQ(report.events, 3 * VerifyTree(store_, "ses_b")->events);

  ASSERT_TRUE(Remove(log::Paths{Dir("ses_b")}.events()));
  ASSERT_TRUE(MakeDirs(Agents("ses_a") + "/no id"));
  ASSERT_TRUE(ReplaceFile(Agents("ses_a") + "/ses_file", "x", Durable::kNo));
  ASSERT_EQ(::symlink("ses_c", (Agents("ses_a") + "/ses_link").c_str()), 0);
  Make(Agents("ses_a") + "/ses_e", ChildHeader("ses_d", "ses_d", "ses_e"));
  Make(Agents("ses_a") + "/ses_d", ChildHeader("ses_a", "ses_a", "ses_d"));
  MakeChild("ses_d", "ses_c");
  EXPECT_EQ(FaultsOf(VerifyTree(store_, "ses_a")),
            (Ids{"foreign_root ses_e", "id_taken ses_c", "id_taken ses_d", "not_a_session -",
                 "not_a_session -", "not_a_session -", "unreadable ses_b"}));
  EXPECT_FALSE(VerifyTree(store_, "ses_a")->sound);
  EXPECT_EQ(FaultsOf(VerifyTree(store_, "ses_e")), Ids{"foreign_root -"});
}

TEST_F(TreeTest, ChildrenOfARootWithoutALogAreStillFoundAndTold) {
  ASSERT_TRUE(Remove(log::Paths{Dir("ses_a")}.events()));
  EXPECT_EQ(FaultsOf(VerifyTree(store_, "ses_a")), Ids{"unreadable -"});
  EXPECT_EQ(FaultsOf(VerifyTree(store_, "ses_c")), Ids{"missing_root -"});
  EXPECT_NE(store_.Describe("ses_a")->title.find("(unreadable: "), std::string::npos);
  EXPECT_EQ(store_.List(true)->size(), 4u);
  EXPECT_TRUE(FindGarbage(store_, false));
  EXPECT_TRUE(store_.DiskUse());
  EXPECT_FALSE(Export(store_, "ses_a", client::ExportFormat::kTar, home_.Sub("x"), -1, true));
  EXPECT_TRUE(store_.Remove("ses_a"));
}

TEST_F(TreeTest, AFolderOfChildrenThatIsAFileHurtsNothingElse) {
  ASSERT_TRUE(ReplaceFile(log::Paths{Dir("ses_d")}.agents(), "x", Durable::kNo));
  EXPECT_EQ(FaultsOf(VerifyTree(store_, "ses_d")), Ids{"not_a_session -"});
  EXPECT_TRUE(FindGarbage(store_, false));
  const std::string tar = ExportTar("ses_d");
  ASSERT_TRUE(store_.Remove("ses_d"));
  EXPECT_TRUE(Import(store_, tar, false));
}

TEST_F(TreeTest, AnExportedTreeComesBackWhole) {
  const std::string tar = ExportTar("ses_a");
  EXPECT_EQ(Import(store_, tar, false).error().code, Code::kConflict);
  const std::string before = ReadFile(log::Paths{Dir("ses_c")}.events()).value();
  ASSERT_TRUE(store_.Remove("ses_a"));
  MakeChild("ses_d", "ses_b");
  const auto taken = Import(store_, tar, false);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("ses_b"), std::string::npos) << "a child's id is taken";
  ASSERT_TRUE(store_.Remove("ses_b"));
  EXPECT_EQ(Import(store_, tar, false)->session_id, "ses_a");
  EXPECT_EQ(store_.ChildIds("ses_a"), (Ids{"ses_b", "ses_c"}));
  EXPECT_EQ(ReadFile(log::Paths{Dir("ses_c")}.events()), before);
  EXPECT_TRUE(VerifyTree(store_, "ses_a")->sound);
}

TEST_F(TreeTest, AnImportUnderNewIdsKeepsTheTreeTogether) {
  AddTask("ses_a", "ses_b");
  AddTask("ses_b", "ses_c");
  AddTask("ses_c", "ses_elsewhere");
  const std::string tar = ExportTar("ses_a");
  const auto imported = Import(store_, tar, true);
  ASSERT_TRUE(imported) << imported.error().Text();
  EXPECT_TRUE(imported->faults.empty());
  const std::string root = imported->session_id;
  ASSERT_NE(root, "ses_a");
  const Ids children = store_.ChildIds(root);
  ASSERT_EQ(children.size(), 2u);
  std::string b;
  std::string c;
  for (const std::string& id : children) {
    const protocol::Header header = HeaderIn(Dir(id));
    EXPECT_EQ(header.session_id, id);
    EXPECT_EQ(header.root_session_id, root);
    (header.cloned_from->session_id == "ses_b" ? b : c) = id;
  }
  EXPECT_EQ(HeaderIn(Dir(b)).parent_session_id, root);
  EXPECT_EQ(HeaderIn(Dir(c)).parent_session_id, b);
  EXPECT_EQ(TaskSession(Dir(root)), b);
  EXPECT_EQ(TaskSession(Dir(b)), c);
  EXPECT_EQ(TaskSession(Dir(c)), "ses_elsewhere");
  EXPECT_TRUE(VerifyTree(store_, root)->sound);
  EXPECT_TRUE(VerifyTree(store_, "ses_a")->sound) << "the tree it came from is as it was";
}

TEST_F(TreeTest, AChildThatIsExportedAloneComesInAsARoot) {
  const std::string tar = ExportTar("ses_c");
  ASSERT_TRUE(store_.Remove("ses_c"));
  EXPECT_EQ(Import(store_, tar, false)->session_id, "ses_c");
  EXPECT_FALSE(store_.Locate("ses_c")->is_child);
  EXPECT_FALSE(store_.Describe("ses_c")->root_session_id);
  EXPECT_TRUE(VerifyTree(store_, "ses_c")->sound) << "a root by its header too";
}

}  // namespace
}  // namespace stet::store
