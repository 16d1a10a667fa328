#include "agent/sandboxing.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "sandbox/support.h"

namespace stet::agent {
namespace {

using When = SandboxRules::When;
using policy::Mode;

class SandboxingTest : public testing::Test {
 protected:
  SandboxingTest() { command_.command = "make"; }
  ~SandboxingTest() override { ::unsetenv(sandbox::kMechanismVariable); }

  static void Force(const char* mechanism) { ::setenv(sandbox::kMechanismVariable, mechanism, 1); }
  static SandboxRules Rules(When when) {
    SandboxRules rules;
    rules.when = when;
    rules.profile.network = sandbox::network::kOff;
    return rules;
  }
  [[nodiscard]] bool IsBoxed(When when, Mode mode, const tool::Intent& intent) const {
    SandboxRules rules = Rules(when);
    return BoxFor(rules, mode, intent).value().chosen.has_value();
  }
  static bool works() {
    return sandbox::Choose(Rules(When::kAlways).profile, sandbox::Need::kWhole).has_value();
  }

  tool::Intent command_;
};

TEST_F(SandboxingTest, CommandsAreKeptInWhenTheRulesSaySo) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  EXPECT_TRUE(IsBoxed(When::kAlways, Mode::kDefault, command_));
  EXPECT_TRUE(IsBoxed(When::kInAutoMode, Mode::kAuto, command_));
  EXPECT_FALSE(IsBoxed(When::kInAutoMode, Mode::kDefault, command_));
  EXPECT_FALSE(IsBoxed(When::kNever, Mode::kAuto, command_));
  EXPECT_FALSE(IsBoxed(When::kAlways, Mode::kDefault, tool::Intent()));
  command_.unsandboxed = true;
  EXPECT_FALSE(IsBoxed(When::kAlways, Mode::kDefault, command_));
}

TEST_F(SandboxingTest, AllCommandsOfASessionShareTheirTemporaryFolder) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  SandboxRules rules = Rules(When::kAlways);
  const std::string first =
      BoxFor(rules, Mode::kDefault, command_).value().chosen.value().profile.temp;
  EXPECT_TRUE(Exists(first));
  EXPECT_EQ(BoxFor(rules, Mode::kDefault, command_).value().chosen.value().profile.temp, first);
  rules.temp.reset();
  EXPECT_FALSE(Exists(first));
}

TEST_F(SandboxingTest, TheLogIsToldByWhatAndWithWhichNetwork) {
  Boxed box;
  EXPECT_FALSE(BoxText(box));
  box.chosen = sandbox::Chosen{Rules(When::kAlways).profile, sandbox::Mechanism::kLandlock};
  EXPECT_EQ(BoxText(box).value().text, R"({"mechanism":"landlock","network":"off"})");
}

TEST_F(SandboxingTest, WhereNoneWorksTheRulesSayWhatHappens) {
  Force("nonsense");
  SandboxRules rules = Rules(When::kAlways);
  const Boxed box = BoxFor(rules, Mode::kDefault, command_).value();
  EXPECT_FALSE(box.chosen);
  EXPECT_TRUE(box.note.starts_with("(It ran without a sandbox: ")) << box.note;
  rules.required = true;
  const Result<Boxed> refused = BoxFor(rules, Mode::kDefault, command_);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("[sandbox] required = true, and "));
  SandboxRules automatic = Rules(When::kInAutoMode);
  EXPECT_EQ(BoxFor(automatic, Mode::kAuto, command_).value().note, "");
}

TEST_F(SandboxingTest, LessThanAllOfItIsForThoseWhoAskedForASandbox) {
  Force("landlock-alone");
  if (!sandbox::Choose(Rules(When::kAlways).profile, sandbox::Need::kBest))
    GTEST_SKIP() << "Landlock does not work here";
  EXPECT_TRUE(IsBoxed(When::kAlways, Mode::kDefault, command_));
  EXPECT_FALSE(IsBoxed(When::kInAutoMode, Mode::kAuto, command_));
}

}  // namespace
}  // namespace stet::agent
