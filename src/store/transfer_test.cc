// What an import refuses, what it leaves out, and what a killed one leaves behind.
#include "store/transfer.h"

#include <charconv>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/garbage.h"
#include "store/session_tree_fixture.h"
#include "store/staging.h"
#include "store/tar.h"

namespace stet::store {
namespace {

using Names = std::vector<std::string>;
using protocol::GarbageItem;

constexpr std::size_t kBlock = 512;

/// Where the members of a tar begin, and where the last ends.
std::vector<std::size_t> BordersOf(std::string_view tar) {
  std::vector<std::size_t> borders;
  std::size_t at = 0;
  while (at < tar.size() && tar[at] != '\0') {
    borders.push_back(at);
    std::size_t bytes = 0;
    std::from_chars(tar.data() + at + 124, tar.data() + at + 135, bytes, 8);
    at += kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
  }
  borders.push_back(at);
  return borders;
}

class ImportTest : public SessionTreeTest {
 protected:
  void SetUp() override {
    MakeRoot("ses_a");
    MakeChild("ses_a", "ses_b");
  }

  /// A tar of the store's folders as they are; "." for all.
  std::string Pack(const std::string& name) {
    std::string tar = home_.Sub("packed.tar");
    EXPECT_TRUE(PackTar(tar, roots_.sessions(), name));
    return tar;
  }
};

TEST_F(ImportTest, ATarThatIsCutIsRefusedWhereverTheCutIs) {
  const std::string whole = ReadFile(Pack("ses_a")).value();
  ASSERT_TRUE(store_.Remove("ses_a"));
  const std::string cut = home_.Sub("cut.tar");
  const std::vector<std::size_t> borders = BordersOf(whole);
  ASSERT_GT(borders.size(), 8u);
  for (const std::size_t border : borders) {
    for (const std::size_t bytes : {border, border + 100}) {
      if (bytes == 0 || bytes == borders.back() + 100) continue;
      ASSERT_TRUE(ReplaceFile(cut, whole.substr(0, bytes), Durable::kNo));
      EXPECT_EQ(Import(store_, cut, false).error().code, Code::kInvalid) << bytes;
    }
  }
  EXPECT_TRUE(store_.Ids()->empty());
  ASSERT_TRUE(ReplaceFile(cut, whole, Durable::kNo));
  EXPECT_EQ(Import(store_, cut, false)->session_id, "ses_a");
}

TEST_F(ImportTest, TwoRootsInOneTarAreRefusedByName) {
  MakeRoot("ses_d");
  const auto refused = Import(store_, Pack("."), true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_NE(refused.error().message.find("ses_a and ses_d"), std::string::npos);
}

TEST_F(ImportTest, WhatASessionDoesNotHaveIsLeftOutAndTold) {
  const std::string dir = store_.Find("ses_b").value();
  const std::string wrong = "/blobs/" + Sha256Hex("something else");
  ASSERT_TRUE(ReplaceFile(dir + wrong, "not that", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(dir + "/notes.txt", "x", Durable::kNo));
  ASSERT_EQ(::symlink("/", (dir + "/root").c_str()), 0);
  const auto imported = Import(store_, Pack("ses_a"), true);
  ASSERT_TRUE(imported) << imported.error().Text();
  // Of the root and of the child: index and lock.
  EXPECT_EQ(imported->left_out, 7u);
  const std::string child = "ses_a/agents/ses_b";
  EXPECT_EQ(imported->left_out_names, (Names{child + wrong, child + "/index", child + "/lock",
                                             child + "/notes.txt", child + "/root"}));
}

TEST_F(ImportTest, NothingIsLeftOutOfAnExport) {
  const std::string tar = home_.Sub("out.tar");
  ASSERT_TRUE(Export(store_, "ses_a", client::ExportFormat::kTar, tar, -1, /*reveal=*/true));
  const auto imported = Import(store_, tar, true);
  ASSERT_TRUE(imported) << imported.error().Text();
  EXPECT_EQ(imported->left_out, 0u);
}

TEST_F(ImportTest, BlobsBehindALinkStayWhereTheyAre) {
  const std::string blobs = log::Paths{store_.Find("ses_b").value()}.blobs();
  MakeRoot("ses_d");
  const std::string link = log::Paths{store_.Find("ses_d").value()}.blobs();
  ASSERT_TRUE(RemoveTree(link));
  ASSERT_EQ(::symlink(blobs.c_str(), link.c_str()), 0);
  EXPECT_TRUE(Import(store_, Pack("ses_d"), true));
  EXPECT_TRUE(Exists(blobs + "/" + Sha256Hex("kept by ses_b")));
}

TEST_F(ImportTest, OptionsInTheEnvironmentAreNotTars) {
  ASSERT_EQ(::setenv("TAR_OPTIONS", "--exclude=events.jsonl", 1), 0);
  const auto imported = Import(store_, Pack("ses_a"), true);
  ::unsetenv("TAR_OPTIONS");
  EXPECT_TRUE(imported) << imported.error().Text();
}

TEST_F(ImportTest, WhatAKilledImportLeftIsCountedAndCollected) {
  const std::string sessions = roots_.sessions();
  const pid_t killed = ::fork();
  if (killed == 0) {
    const Result<Staging> staging = Staging::Make(sessions);
    if (staging)
      (void)ReplaceFile(staging->dir() + "/big", std::string(100'000, 'x'), Durable::kNo);
    ::_exit(0);  // Without its destructor.
  }
  ASSERT_EQ(::waitpid(killed, nullptr, 0), killed);
  const Staging working = Staging::Make(sessions).value();
  const std::vector<GarbageItem> items = FindGarbage(store_, false).value();
  ASSERT_EQ(items.size(), 1u) << "the one whose process lives is not garbage";
  EXPECT_EQ(items[0].kind, "temporary");
  EXPECT_GE(items[0].bytes, 100'000u);
  const auto report = store_.DiskUse().value();
  ASSERT_EQ(report.sessions.size(), 3u);
  EXPECT_EQ(sessions + "/" + report.sessions[0].session_id, items[0].path);
  EXPECT_GE(report.total_bytes, report.sessions[0].total_bytes);
  EXPECT_EQ(Collect(store_, items), items[0].bytes);
  EXPECT_FALSE(Exists(items[0].path));
  EXPECT_TRUE(Exists(working.dir()));
}

}  // namespace
}  // namespace stet::store
