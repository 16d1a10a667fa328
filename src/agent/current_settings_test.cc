#include "agent/current_settings.h"

#include <gtest/gtest.h>

#include "agent/settings.h"

namespace stet::agent {
namespace {

TEST(CurrentSettingsTest, AChangeMakesANewValueAndLeavesTheOldOneAsItWas) {
  CurrentSettings settings({.effort = "low", .rules = {.mode = policy::Mode::kPlan}});
  const std::shared_ptr<const SessionSettings> before = settings.shared();
  settings.SetMode(policy::Mode::kAuto);
  settings.SetEffort("high");
  settings.Grant({policy::GrantFrom("Bash(make)")});
  EXPECT_EQ(before->rules.mode, policy::Mode::kPlan);
  EXPECT_EQ(before->effort, "low");
  EXPECT_TRUE(before->rules.allow.empty());
  EXPECT_EQ(settings->rules.mode, policy::Mode::kAuto);
  EXPECT_EQ(settings->effort, "high");
  ASSERT_EQ(settings->rules.allow.size(), 1U);
  EXPECT_EQ(policy::RuleText(settings->rules.allow[0]), "Bash(make)");
}

TEST(CurrentSettingsTest, CommandsOfASessionShareTheirTemporaryFolderAfterAChange) {
  CurrentSettings settings{SessionSettings()};
  const std::shared_ptr<SharedByBoxes> shared = settings->sandbox.shared;
  settings.SetMode(policy::Mode::kAuto);
  EXPECT_EQ(settings->sandbox.shared, shared);
}

}  // namespace
}  // namespace stet::agent
