#include "store/session_store.h"

#include <functional>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/lock.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "log/summary.h"
#include "store/garbage.h"
#include "store/session_tree_fixture.h"
#include "store/transfer.h"
#include "store/verify_tree.h"

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

/// Puts something else in the place of a session's file.
struct Impostor {
  std::string_view is;
  std::function<void(const std::string& path)> put;
};

const std::vector<Impostor>& Impostors() {
  static const std::vector<Impostor> all{
      {"a FIFO", [](const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {"a socket",
       [](const std::string& path) {
         const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
         // A relative name, because an address holds 108 bytes.
         sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
         const Fd folder = OpenFile(ParentDir(path), O_PATH | O_DIRECTORY).value();
         fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}",
                          folder.get(), path.substr(path.rfind('/') + 1));
         ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
       }},
      {"a symlink",
       [](const std::string& path) {
         ASSERT_TRUE(Rename(path + ".was", path + ".elsewhere"));
         ASSERT_EQ(::symlink((path + ".elsewhere").c_str(), path.c_str()), 0);
       }},
  };
  return all;
}

TEST_F(SessionStoreTest, ALogThatIsNoPlainFileIsListedWithTheReasonAndHoldsNoVerbUp) {
  for (const Impostor& impostor : Impostors()) {
    SCOPED_TRACE(impostor.is);
    MakeRoot("ses_a");
    const std::string dir = store_.Find("ses_a").value();
    const std::string events = log::Paths{dir}.events();
    ASSERT_TRUE(Rename(events, events + ".was"));
    impostor.put(events);
    const auto rows = store_.List().value();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_NE(rows[0].title.find(fmt::format("events.jsonl is {}", impostor.is)), std::string::npos)
        << rows[0].title;
    for (const log::Mode mode : {log::Mode::kRead, log::Mode::kWrite})
      EXPECT_EQ(log::Log::Open(dir, {.mode = mode, .device_id = "dev_test"}).error().code,
                Code::kInvalid);
    EXPECT_NE(VerifyTree(store_, "ses_a").error().message.find(impostor.is), std::string::npos);
    EXPECT_FALSE(
        Export(store_, "ses_a", client::ExportFormat::kTar, home_.Sub("tar"), -1, /*reveal=*/true));
    EXPECT_TRUE(FindGarbage(store_, false)->empty());
    EXPECT_TRUE(store_.DiskUse());
    EXPECT_TRUE(store_.Remove("ses_a"));
  }
}

TEST_F(SessionStoreTest, OtherFilesThatAreNotPlainCostOnlyThemselves) {
  for (const Impostor& impostor : Impostors()) {
    SCOPED_TRACE(impostor.is);
    MakeRoot("ses_a");
    const log::Paths paths{store_.Find("ses_a").value()};
    const std::string blob = Sha256Hex("kept by ses_a");
    for (const std::string& path :
         {paths.index(), paths.summary(), paths.diagnostics(), paths.blobs() + "/" + blob}) {
      if (Exists(path)) {
        ASSERT_TRUE(Rename(path, path + ".was"));
      } else {
        ASSERT_TRUE(ReplaceFile(path + ".was", "", Durable::kNo));
      }
      impostor.put(path);
    }
    STET_LOG_IN(paths.diagnostics(), kError, "written nowhere");
    EXPECT_EQ(store_.Describe("ses_a")->title, "hello ses_a");
    EXPECT_EQ(log::Blobs(paths.blobs()).Get(blob).error().code, Code::kInvalid);
    const auto log = Write("ses_a");
    EXPECT_EQ(log->blobs().Put("kept by ses_a"), blob) << "put anew, as a file";
    EXPECT_EQ(log->blobs().Get(blob), "kept by ses_a");
    EXPECT_TRUE(log->Close());
    ASSERT_TRUE(RemoveTree(paths.dir));
  }
}

TEST_F(SessionStoreTest, ALockThatIsNoPlainFileIsRefusedAndWaitedForByNone) {
  for (const Impostor& impostor : Impostors()) {
    SCOPED_TRACE(impostor.is);
    MakeRoot("ses_a");
    const log::Paths paths{store_.Find("ses_a").value()};
    ASSERT_TRUE(Rename(paths.lock(), paths.lock() + ".was"));
    impostor.put(paths.lock());
    EXPECT_EQ(FileLock::Holder(paths.lock()), std::nullopt);
    EXPECT_EQ(FileLock::Acquire(paths.lock()).error().code, Code::kInvalid);
    EXPECT_TRUE(log::Log::Open(paths.dir, {})) << "readers take no lock";
    ASSERT_TRUE(RemoveTree(paths.dir));
  }
}

TEST_F(SessionStoreTest, BlobsBehindALinkAreNeverGarbage) {
  MakeRoot("ses_a");
  MakeRoot("ses_b");
  const log::Paths b{store_.Find("ses_b").value()};
  ASSERT_TRUE(RemoveTree(b.blobs()));
  ASSERT_EQ(::symlink("../ses_a/blobs", b.blobs().c_str()), 0);
  EXPECT_TRUE(FindGarbage(store_, false)->empty());
}

TEST_F(SessionStoreTest, AChildThatWasFoundLastIsStillLookedFor) {
  MakeRoot("ses_a");
  MakeRoot("ses_b");
  MakeChild("ses_a", "ses_c");
  EXPECT_EQ(store_.Resolve("c"), "ses_c");
  const std::string dir = store_.Find("ses_c").value();
  ASSERT_TRUE(MakeDirs(roots_.sessions() + "/ses_b/agents"));
  ASSERT_TRUE(Rename(dir, roots_.sessions() + "/ses_b/agents/ses_c"));
  EXPECT_EQ(store_.Locate("ses_c")->root_id, "ses_b");
  ASSERT_TRUE(store_.Remove("ses_b"));
  EXPECT_EQ(store_.Locate("ses_c").error().code, Code::kNotFound);
}

TEST_F(SessionStoreTest, ARowCarriesOnlyTheBeginningOfWhatIsLong) {
  protocol::Header header = HeaderOf("ses_a", "chat");
  header.meta.title = std::string(199, 'x') + "\u00e9" + std::string(3'000'000, 'y');
  header.meta.cwd = "/" + std::string(3'000'000, 'z');
  Make(store_.NewDir("ses_a"), header);
  const protocol::SessionSummary kept = store_.List()->at(0);
  ASSERT_TRUE(Remove(log::Paths{store_.NewDir("ses_a")}.summary()));
  const protocol::SessionSummary made = store_.List()->at(0);
  for (const protocol::SessionSummary& row : {kept, made}) {
    EXPECT_EQ(row.title, std::string(199, 'x')) << "no half of a character";
    EXPECT_EQ(row.cwd.size(), log::kMaxPathBytes);
  }
}

/// What is left when a process dies between making the folder and writing the log.
void LeaveUnborn(const std::string& dir) {
  const log::Paths paths{dir};
  ASSERT_TRUE(MakeDirs(dir));
  ASSERT_TRUE(ReplaceFile(paths.lock(), "", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(paths.events(), "", Durable::kNo));
}

TEST_F(SessionStoreTest, AFolderInWhichNoSessionCameToBeIsNoneAndItsIdIsFree) {
  MakeRoot("ses_a");
  LeaveUnborn(store_.NewDir("ses_dead"));
  const Error none = store_.Locate("ses_dead").error();
  EXPECT_EQ(none.code, Code::kNotFound);
  EXPECT_NE(none.message.find("never had a log"), std::string::npos) << none.message;
  EXPECT_EQ(store_.Resolve("ses_dead").error(), none);
  EXPECT_EQ(store_.Resolve("dead").error().code, Code::kNotFound);
  EXPECT_EQ(VerifyTree(store_, "ses_dead").error(), none) << "named as what it is";
  EXPECT_EQ(store_.Ids(), Ids{"ses_a"});
  EXPECT_EQ(store_.List()->size(), 1u);
  EXPECT_TRUE(store_.CheckFree("ses_dead"));
  MakeRoot("ses_dead");
  EXPECT_EQ(store_.Resolve("dead"), "ses_dead");
  EXPECT_EQ(store_.CheckFree("ses_dead").error().code, Code::kConflict);
}

TEST_F(SessionStoreTest, AChildThatNeverCameToBeIsToldByVerifyAlone) {
  MakeRoot("ses_a");
  LeaveUnborn(roots_.sessions() + "/ses_a/agents/ses_dead");
  EXPECT_EQ(store_.ChildIds("ses_a"), Ids());
  EXPECT_EQ(store_.Locate("ses_dead").error().code, Code::kNotFound);
  const auto report = VerifyTree(store_, "ses_a").value();
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].name, "not_a_session");
  MakeChild("ses_a", "ses_dead");
  EXPECT_TRUE(VerifyTree(store_, "ses_a")->sound);
}

TEST_F(SessionStoreTest, FoldersInWhichNoSessionCameToBeAreGarbageWhileNoneIsMadeThere) {
  MakeRoot("ses_a");
  LeaveUnborn(store_.NewDir("ses_dead"));
  LeaveUnborn(roots_.sessions() + "/ses_a/agents/ses_born");
  {
    const Result<FileLock> maker = FileLock::Acquire(log::Paths{store_.NewDir("ses_dead")}.lock());
    ASSERT_TRUE(maker);
    EXPECT_EQ(FindGarbage(store_, false)->size(), 1u);
  }
  const std::vector<protocol::GarbageItem> items = FindGarbage(store_, false).value();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].kind, "unborn");
  MakeChild("ses_a", "ses_born");
  EXPECT_TRUE(Collect(store_, items));
  EXPECT_FALSE(Exists(store_.NewDir("ses_dead")));
  EXPECT_TRUE(store_.Locate("ses_born")) << "it came to be in between";
}

TEST_F(SessionStoreTest, ASessionComesBackOverAFolderInWhichNoneCameToBe) {
  MakeRoot("ses_a");
  ASSERT_TRUE(store_.Remove("ses_a"));
  LeaveUnborn(store_.NewDir("ses_a"));
  EXPECT_EQ(store_.Restore("ses_a"), "ses_a");
  EXPECT_TRUE(VerifyTree(store_, "ses_a")->sound);
}

TEST_F(SessionStoreTest, AnEmptyTrashIsNoBytes) {
  MakeRoot("ses_a");
  ASSERT_TRUE(store_.Remove("ses_a"));
  EXPECT_GT(store_.DiskUse()->trash_bytes, 0u);
  ASSERT_TRUE(Collect(store_, FindGarbage(store_, true).value()));
  EXPECT_EQ(store_.DiskUse()->trash_bytes, 0u);
}

TEST_F(SessionStoreTest, ASessionWhoseDeletionHasBegunIsNotBroughtBackAndGoesWithTheNext) {
  MakeRoot("ses_a");
  ASSERT_TRUE(store_.Remove("ses_a"));
  const std::string dir = store_.TrashDir(store_.Trash()->front());
  // As a process that is killed in the middle leaves it.
  ASSERT_TRUE(Rename(dir, dir + ".gone"));
  EXPECT_FALSE(store_.Restore("ses_a"));
  EXPECT_GT(store_.DiskUse()->trash_bytes, 0u);
  ASSERT_TRUE(Collect(store_, FindGarbage(store_, true).value()));
  EXPECT_FALSE(Exists(dir + ".gone"));
}

TEST_F(SessionStoreTest, AnIdThatIsRemovedAgainAtOnceIsInTheTrashTwice) {
  for (int times = 0; times < 5; ++times) {
    MakeRoot("ses_a");
    ASSERT_TRUE(store_.Remove("ses_a"));
  }
  EXPECT_EQ(store_.Trash()->size(), 5u);
}

}  // namespace
}  // namespace stet::store
