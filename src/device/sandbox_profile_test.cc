#include "device/sandbox_profile.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "policy/guarded.h"

namespace stet::device {
namespace {

using When = agent::SandboxRules::When;

class SandboxProfileTest : public testing::Test {
 protected:
  SandboxProfileTest() { EXPECT_TRUE(MakeDirs(project_ + "/.git/hooks")); }

  [[nodiscard]] ProfileSources Sources() const {
    return {.roots = roots_,
            .settings = settings_,
            .project = project_,
            .more_roots = {},
            .home = temp_.Sub("home"),
            .secret_variables = {"MY_KEY"}};
  }
  static bool Has(const sandbox::Texts& texts, const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  }

  TempDir temp_;
  const std::string project_ = temp_.Sub("project");
  config::Roots roots_{.data = temp_.Sub("data"), .config = temp_.Sub("config")};
  config::SandboxSettings settings_;
};

TEST_F(SandboxProfileTest, TheProjectIsWritableAndSecretsAreHidden) {
  settings_.write = {"/more", "~/cache"};
  const sandbox::Profile profile = MakeProfile(Sources());
  EXPECT_EQ(profile.writable, (sandbox::Texts{project_, "/more", temp_.Sub("home/cache")}));
  for (const std::string& path :
       {temp_.Sub("data"), temp_.Sub("config"), temp_.Sub("home/.ssh"), std::string("/run")})
    EXPECT_TRUE(Has(profile.hidden, path)) << path;
  for (const char* name : {"/.git/hooks", "/.git/config", "/.stet"})
    EXPECT_TRUE(Has(profile.read_only, project_ + name)) << name;
  EXPECT_TRUE(Has(profile.dropped_variables, "MY_KEY"));
  EXPECT_EQ(profile.network, "hosts");
}

TEST_F(SandboxProfileTest, WhatPolicyGuardsIsHiddenOrReadOnlyInTheSandboxToo) {
  const std::string home = temp_.Sub("home");
  const sandbox::Profile profile = MakeProfile(Sources());
  for (const std::string& name : policy::KeyPlaces()) {
    EXPECT_TRUE(Has(profile.hidden, home + "/" + name)) << name;
    EXPECT_NE(policy::GuardedFromSight(home + "/" + name, {.project = project_, .home = home}), "")
        << name;
  }
  for (const std::string& name : policy::AgentNames())
    EXPECT_EQ(Has(profile.read_only, project_ + "/" + name), name != ".stetignore")
        << name << ", though it is not there";
  ASSERT_TRUE(ReplaceFile(project_ + "/.stetignore", "", Durable::kNo));
  EXPECT_TRUE(Has(MakeProfile(Sources()).read_only, project_ + "/.stetignore"));
}

TEST_F(SandboxProfileTest, AWorktreesRepositoryIsWritableWhenItPointsBack) {
  const std::string tree = temp_.Sub("tree");
  const std::string own = project_ + "/.git/worktrees/tree";
  ASSERT_TRUE(MakeDirs(tree));
  ASSERT_TRUE(MakeDirs(own));
  ASSERT_TRUE(MakeDirs(project_ + "/.git/objects"));
  ASSERT_TRUE(ReplaceFile(tree + "/.git", "gitdir: " + own + "\n", Durable::kNo));
  ASSERT_TRUE(ReplaceFile(own + "/commondir", "../..\n", Durable::kNo));
  ProfileSources sources = Sources();
  sources.project = tree;
  EXPECT_FALSE(Has(MakeProfile(sources).writable, project_ + "/.git"));
  ASSERT_TRUE(ReplaceFile(own + "/gitdir", tree + "/.git\n", Durable::kNo));
  const sandbox::Profile profile = MakeProfile(sources);
  EXPECT_TRUE(Has(profile.writable, project_ + "/.git"));
  EXPECT_TRUE(Has(profile.read_only, project_ + "/.git/hooks"));
}

TEST_F(SandboxProfileTest, WhatRunsUnaskedAtHomeIsProtectedWhenHomeIsTheProject) {
  ASSERT_TRUE(MakeDirs(temp_.Sub("home")));
  ASSERT_TRUE(ReplaceFile(temp_.Sub("home/.bashrc"), "", Durable::kNo));
  EXPECT_FALSE(Has(MakeProfile(Sources()).read_only, temp_.Sub("home/.bashrc")));
  ProfileSources sources = Sources();
  sources.project = temp_.Sub("home");
  EXPECT_TRUE(Has(MakeProfile(sources).read_only, temp_.Sub("home/.bashrc")));
}

TEST_F(SandboxProfileTest, ItIsUsedInModeAutoUnlessTheConfigurationSaysOtherwise) {
  EXPECT_EQ(MakeSandboxRules(Sources()).when, When::kInAutoMode);
  settings_.enabled = false;
  EXPECT_EQ(MakeSandboxRules(Sources()).when, When::kNever);
  settings_.required = true;
  EXPECT_EQ(MakeSandboxRules(Sources()).when, When::kAlways);
  EXPECT_TRUE(MakeSandboxRules(Sources()).required);
}

}  // namespace
}  // namespace stet::device
