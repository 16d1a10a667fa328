#include "tool/checkpoint/checkpoints.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/temp_dir.h"

namespace stet::tool {
namespace {

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointsTest() {
    EXPECT_TRUE(MakeDirs(project_));
    Begin("one");
  }

  /// As another session in the same project would; `last` is its last manifest.
  void Begin(const std::string& session, const std::optional<std::string>& last = {},
             const KeepingLimits& limits = {}) {
    view_ = std::make_shared<ProjectView>(project_, std::vector<std::string>{".git"});
    checkpoints_ = std::make_unique<Checkpoints>(Checkpoints::Setup{
        .store = temp_.Sub("store"),
        .session = temp_.Sub(session),
        .limits = limits,
        .last = [last]() -> Result<std::optional<std::string>> { return last; }});
  }
  void Put(const std::string& name, std::string_view bytes) {
    const std::string path = project_ + "/" + name;
    ASSERT_TRUE(MakeDirs(ParentDir(path)));
    ASSERT_TRUE(ReplaceFile(path, bytes, Durable::kNo));
  }
  Checkpoints::Taken Take() {
    auto taken = loop_.RunUntilDone(checkpoints_->Take(view_, "command", loop_, {}));
    EXPECT_TRUE(taken) << taken.error().Text();
    return taken.value_or(Checkpoints::Taken());
  }
  Seen Look() { return loop_.RunUntilDone(checkpoints_->Look(view_, loop_, {})).value(); }
  std::string Content(const std::string& path) {
    const auto entry = checkpoints_->entries().find(path);
    if (entry == checkpoints_->entries().end()) return "(none)";
    return checkpoints_->copies().Read(entry->second.kept.id).value_or("(not kept)");
  }

  TempDir temp_;
  Loop loop_;
  std::string project_ = temp_.Sub("project");
  std::shared_ptr<ProjectView> view_;
  std::unique_ptr<Checkpoints> checkpoints_;
};

TEST_F(CheckpointsTest, AFileThatIsWrittenAgainWithinATickOfTheClockIsSeen) {
  Put("a", "0");
  (void)Take();
  const Fd file(::open((project_ + "/a").c_str(), O_WRONLY | O_CLOEXEC));
  for (int round = 0; round < 300; ++round) {
    const char byte = round % 2 == 0 ? 'x' : 'y';
    ASSERT_EQ(::pwrite(file.get(), &byte, 1, 0), 1);
    (void)Look();
    ASSERT_EQ(Content("a"), std::string(1, byte)) << round;
  }
}

TEST_F(CheckpointsTest, ASessionThatIsOpenedAgainGoesOnFromItsLastCheckpoint) {
  Put("a", "one");
  Put("gone", "one");
  (void)Take();
  Put("b", "one");
  const std::string last = Take().event.manifest;
  Put("a", "two");
  ASSERT_TRUE(Remove(project_ + "/gone"));
  Begin("one", last);
  const Seen seen = Look();
  ASSERT_EQ(seen.changes.size(), 2U);
  EXPECT_EQ(seen.changes[0].path, "a");
  EXPECT_EQ(checkpoints_->copies().Read(seen.changes[0].before->kept.id), "one");
  EXPECT_EQ(seen.changes[1].path, "gone");
  EXPECT_FALSE(seen.changes[1].after);
}

TEST_F(CheckpointsTest, AnotherSessionHasNamesOfItsOwnForTheSameCopies) {
  Put("a", "one");
  Put("b", "one");
  (void)Take();
  Begin("two");
  Put("b", "two");
  (void)Take();
  EXPECT_EQ(Content("b"), "two");
  EXPECT_EQ(Content("a"), "one");
  EXPECT_EQ(StatFile(temp_.Sub("store/" + Sha256Hex("one")))->links, 3U)
      << "the store's and both sessions'";
}

TEST_F(CheckpointsTest, WhatIsBeyondTheLimitsIsNotCoveredAndSmallAndNewFilesGoFirst) {
  Begin("small", {}, {.small_bytes = 10, .all_bytes = 25});
  Put("large", std::string(20, 'l'));
  for (int i = 0; i < 3; ++i) Put(fmt::format("small{}", i), std::string(8, 's'));
  Put("huge", std::string(100, 'h'));
  (void)Take();
  EXPECT_EQ(checkpoints_->not_covered().paths, (std::vector<std::string>{"huge", "large"}));
  EXPECT_EQ(Take().event.not_covered, 2);
  ASSERT_TRUE(Remove(project_ + "/huge"));
  Put("large", "now small");
  (void)Take();
  EXPECT_TRUE(checkpoints_->not_covered().paths.empty());
}

TEST_F(CheckpointsTest, WhatATaskMayHaveDoneIsItsDoingUntilALookBehindItsEnd) {
  (void)Take();
  checkpoints_->TaskBegan("call_1");
  Put("a", "x");
  EXPECT_EQ(Look().task_call, "call_1");
  checkpoints_->TaskEnded("call_1");
  Put("b", "x");
  EXPECT_EQ(Look().task_call, "call_1");
  Put("c", "x");
  EXPECT_EQ(Look().task_call, "");
}

}  // namespace
}  // namespace stet::tool
