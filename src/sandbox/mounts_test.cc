#include "sandbox/mounts.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "sandbox/bubblewrap.h"

namespace stet::sandbox {
namespace {

using Kind = Mount::Kind;

class MountsTest : public testing::Test {
 protected:
  MountsTest() {
    EXPECT_TRUE(MakeDirs(temp_.Sub("p/.git/hooks")));
    EXPECT_TRUE(ReplaceFile(temp_.Sub("p/.git/config"), "", Durable::kNo));
    EXPECT_TRUE(MakeDirs(temp_.Sub("secret")));
    profile_.writable = {temp_.Sub("p")};
  }
  std::string At(std::string_view name) const { return temp_.Sub(name); }

  TempDir temp_;
  Profile profile_;
};

TEST_F(MountsTest, FoldersAboveWhatIsReadOnlyArePinned) {
  profile_.read_only = {At("p/.git/hooks"), At("p/.git/config")};
  EXPECT_EQ(PlanMounts(profile_),
            (std::vector<Mount>{{Kind::kWritable, At("p"), true},
                                {Kind::kPinned, At("p/.git"), true},
                                {Kind::kReadOnly, At("p/.git/config"), false},
                                {Kind::kReadOnly, At("p/.git/hooks"), true}}));
}

TEST_F(MountsTest, OfOnePathHiddenCountsBeforeReadOnlyBeforeWritable) {
  profile_.writable = {At("p"), At("secret")};
  profile_.read_only = {At("p")};
  profile_.hidden = {At("secret"), At("not there")};
  EXPECT_EQ(PlanMounts(profile_), (std::vector<Mount>{{Kind::kReadOnly, At("p"), true},
                                                      {Kind::kHidden, At("secret"), true}}));
}

TEST_F(MountsTest, SymlinksAreFollowedBeforehand) {
  ASSERT_EQ(::symlink(At("secret").c_str(), At("p/link").c_str()), 0);
  profile_.hidden = {At("p/link")};
  EXPECT_EQ(PlanMounts(profile_), (std::vector<Mount>{{Kind::kWritable, At("p"), true},
                                                      {Kind::kHidden, At("secret"), true}}));
}

TEST_F(MountsTest, ASymlinkThatACommandMayHaveMadeOpensNothing) {
  ASSERT_TRUE(ReplaceFile(At("secret/key"), "", Durable::kNo));
  ASSERT_EQ(::symlink(At("secret/key").c_str(), At("p/.envrc").c_str()), 0);
  ASSERT_EQ(::symlink(At("secret").c_str(), At("p/cache").c_str()), 0);
  profile_.writable.push_back(At("p/cache"));
  profile_.read_only = {At("p/.envrc"), At("p/cache/hooks"), At("p/cache/key")};
  profile_.hidden = {At("secret")};
  EXPECT_EQ(PlanMounts(profile_), (std::vector<Mount>{{Kind::kWritable, At("p"), true},
                                                      {Kind::kHidden, At("secret"), true}}));
}

TEST_F(MountsTest, FoldersAboveWhatIsHiddenInTheProjectArePinned) {
  profile_.hidden = {At("p/.git/config")};
  EXPECT_EQ(PlanMounts(profile_),
            (std::vector<Mount>{{Kind::kWritable, At("p"), true},
                                {Kind::kPinned, At("p/.git"), true},
                                {Kind::kHidden, At("p/.git/config"), false}}));
}

TEST_F(MountsTest, BubblewrapMountsParentsFirstAndClosesWhatIsEmptyLast) {
  ASSERT_TRUE(ReplaceFile(At("p/key"), "", Durable::kNo));
  profile_.read_only = {At("p/.git/config")};
  profile_.hidden = {At("secret"), At("p/key")};
  profile_.temp = "/t";
  profile_.network = network::kOff;
  const std::vector<std::string> got = BubblewrapArguments(
      profile_, PlanMounts(profile_), {.cwd = At("p"), .empty = "/e", .privileged = true});
  EXPECT_EQ(
      fmt::format("{}", fmt::join(got, " ")),
      fmt::format(
          "--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try "
          "--die-with-parent --unshare-net --cap-drop ALL --ro-bind / / --dev /dev "
          "--proc /proc --bind /t /tmp --bind {0}/p {0}/p "
          "--bind {0}/p/.git {0}/p/.git "
          "--ro-bind {0}/p/.git/config {0}/p/.git/config --ro-bind /e {0}/p/key "
          "--perms 0555 --tmpfs {0}/secret --remount-ro {0}/secret --remount-ro /proc --chdir "
          "{0}/p",
          temp_.path()));
}

TEST_F(MountsTest, AnOpenNetworkIsTheMachinesOwn) {
  profile_.network = network::kOpen;
  const std::vector<std::string> got = BubblewrapArguments(profile_, {}, {.cwd = "/"});
  EXPECT_EQ(std::ranges::find(got, "--unshare-net"), got.end());
  EXPECT_NE(std::ranges::find(got, "--unshare-user"), got.end());
}

}  // namespace
}  // namespace stet::sandbox
