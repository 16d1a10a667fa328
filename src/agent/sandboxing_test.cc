#include "agent/sandboxing.h"

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
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
    return BoxFor(Rules(when), intent, {.mode = mode, .by_policy = true})
        .value()
        .chosen.has_value();
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

TEST_F(SandboxingTest, WhatIsExcludedIsHiddenAsItIsWhenACommandStarts) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  const TempDir project;
  SandboxRules rules = Rules(When::kAlways);
  rules.project = project.path();
  rules.denied.reading = {{project.path(), std::make_shared<const IgnoreFile>("*.key\n")}};
  const auto hidden = [&](bool by_policy) {
    Result<Boxed> box = BoxFor(rules, command_, {.by_policy = by_policy});
    return box ? box->chosen.value().profile.hidden.size() : std::size_t{9999};
  };
  EXPECT_EQ(hidden(true), 0U);
  ASSERT_TRUE(ReplaceFile(project.path() + "/a.key", "", Durable::kNo));
  EXPECT_EQ(hidden(true), 1U);
  EXPECT_TRUE(HidingOf(rules).all);
  EXPECT_TRUE(HidingOf(rules).any);
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(ReplaceFile(fmt::format("{}/{}.key", project.path(), i), "", Durable::kNo));
  EXPECT_FALSE(HidingOf(rules).all);
  EXPECT_EQ(hidden(true), 9999U) << "policy counts on it";
  EXPECT_EQ(hidden(false), 200U) << "the user or a hook takes it upon themselves";
}

TEST_F(SandboxingTest, AllCommandsOfASessionShareTheirTemporaryFolder) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  SandboxRules rules = Rules(When::kAlways);
  const std::string first =
      BoxFor(rules, command_, {.by_policy = true}).value().chosen.value().profile.temp;
  EXPECT_TRUE(Exists(first));
  EXPECT_EQ(BoxFor(rules, command_, {.by_policy = true}).value().chosen.value().profile.temp,
            first);
  rules.shared.reset();
  EXPECT_FALSE(Exists(first));
}

TEST_F(SandboxingTest, WhatPolicyClaimsOfACommandIsWhatItsBoxPermits) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  SandboxRules rules = Rules(When::kInAutoMode);
  rules.profile.writable = {"/srv"};
  rules.profile.network = sandbox::network::kHosts;
  rules.reads.readable = {"/usr"};
  rules.reads.network = sandbox::network::kOff;
  const auto profile = [&](policy::Box claim) {
    return BoxFor(rules, command_, {.claim = claim, .by_policy = true})
        .value()
        .chosen.value()
        .profile;
  };
  EXPECT_TRUE(profile(policy::Box::kReads).only_reads());
  EXPECT_EQ(profile(policy::Box::kReads).temp, "") << "its own, and gone with it";
  EXPECT_EQ(profile(policy::Box::kEdits).writable, rules.profile.writable);
  EXPECT_EQ(profile(policy::Box::kEdits).network, sandbox::network::kOff);
  EXPECT_EQ(profile(policy::Box::kAuto).network, sandbox::network::kHosts);
  EXPECT_FALSE(BoxFor(rules, command_, {.claim = policy::Box::kReads}).value().chosen)
      << "a person allowed it";
}

policy::Decision Unasked() {
  return {.verdict = policy::Verdict::kAllow, .box = policy::Box::kReads};
}

TEST_F(SandboxingTest, WhatNothingKeepsInIsAsked) {
  SandboxRules rules = Rules(When::kNever);
  rules.reads.readable = {"/usr"};
  EXPECT_EQ(HeldToItsBox(Unasked(), rules, Mode::kDefault, "ls").verdict, policy::Verdict::kAsk);
  EXPECT_EQ(HeldToItsBox(Unasked(), rules, Mode::kDontAsk, "ls").verdict, policy::Verdict::kDeny);
  const policy::Decision by_rule{.verdict = policy::Verdict::kAllow, .rule = "allow:Bash(ls)"};
  EXPECT_EQ(HeldToItsBox(by_rule, rules, Mode::kDefault, "ls").verdict, policy::Verdict::kAllow)
      << "a rule is a person's word";
  Force("nonsense");
  rules.when = When::kInAutoMode;
  const policy::Decision held = HeldToItsBox(Unasked(), rules, Mode::kDefault, "ls");
  EXPECT_EQ(held.verdict, policy::Verdict::kAsk);
  EXPECT_NE(held.reason.find("nothing keeps it in here"), std::string::npos) << held.reason;
}

TEST_F(SandboxingTest, ACommandThatWasKeptBackIsAskedTheNextTime) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  SandboxRules rules = Rules(When::kInAutoMode);
  rules.reads.readable = {"/usr"};
  EXPECT_EQ(HeldToItsBox(Unasked(), rules, Mode::kDefault, "ls").verdict, policy::Verdict::kAllow);
  rules.shared->KeptBack("ls");
  EXPECT_EQ(HeldToItsBox(Unasked(), rules, Mode::kDefault, "ls").verdict, policy::Verdict::kAsk);
}

TEST_F(SandboxingTest, InModeAutoAPersonsAnswerAndARuleForWhatNoBoxFitsLeadOutOfTheBox) {
  if (!works()) GTEST_SKIP() << "no sandbox works here";
  const SandboxRules rules = Rules(When::kInAutoMode);
  const auto boxed = [&](bool by_policy) {
    return BoxFor(rules, command_, {.mode = Mode::kAuto, .by_policy = by_policy})
        .value()
        .chosen.has_value();
  };
  EXPECT_TRUE(boxed(true)) << "a rule allows it";
  EXPECT_FALSE(boxed(false)) << "a person was asked";
  rules.shared->KeptBack("make");
  EXPECT_FALSE(boxed(true)) << "it failed in the box";
}

TEST_F(SandboxingTest, TheLogIsToldByWhatAndWithWhichNetwork) {
  Boxed box;
  EXPECT_FALSE(BoxText(box));
  box.chosen = sandbox::Chosen{Rules(When::kAlways).profile, sandbox::Mechanism::kNamespaces};
  EXPECT_EQ(BoxText(box).value().text, R"({"mechanism":"namespaces","network":"off"})");
}

TEST_F(SandboxingTest, WhereNoneWorksTheRulesSayWhatHappens) {
  Force("nonsense");
  SandboxRules rules = Rules(When::kAlways);
  const Boxed box = BoxFor(rules, command_, {.by_policy = true}).value();
  EXPECT_FALSE(box.chosen);
  EXPECT_TRUE(box.note.starts_with("(It ran without a sandbox: ")) << box.note;
  rules.required = true;
  const Result<Boxed> refused = BoxFor(rules, command_, {.by_policy = true});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("[sandbox] required = true, and "));
  SandboxRules automatic = Rules(When::kInAutoMode);
  EXPECT_EQ(BoxFor(automatic, command_, {.mode = Mode::kAuto}).value().note, "");
}

TEST_F(SandboxingTest, LessThanAllOfItIsForThoseWhoAskedForASandbox) {
  Force("landlock-alone");
  if (!sandbox::Choose(Rules(When::kAlways).profile, sandbox::Need::kBest))
    GTEST_SKIP() << "Landlock does not work here";
  EXPECT_TRUE(IsBoxed(When::kAlways, Mode::kDefault, command_));
  EXPECT_FALSE(IsBoxed(When::kInAutoMode, Mode::kAuto, command_));
}

TEST_F(SandboxingTest, WhatRunsInNoBoxIsKeptFromWhatIsDeniedAndFromNothingElse) {
  const TempDir project;
  SandboxRules rules = Rules(When::kInAutoMode);
  rules.denied.reading = {{project.path(), std::make_shared<const IgnoreFile>("*.key\n")}};
  rules.denied.changing = {{project.Sub("locked"), nullptr}};
  const auto box = [&] { return BoxFor(rules, command_, {.mode = Mode::kBypass}).value(); };
  EXPECT_FALSE(box().chosen) << "there is nothing of it";
  for (const char* name : {"a.key", "locked"})
    ASSERT_TRUE(ReplaceFile(project.Sub(name), "", Durable::kNo));
  rules.project = "/elsewhere";
  EXPECT_FALSE(HidingOf(rules).any) << "git sees nothing of it";
  rules.project = project.path();
  EXPECT_TRUE(HidingOf(rules).any);
  const Hiding hiding = HidingOf(rules);
  if (!hiding.outside) GTEST_SKIP() << "nothing hides files here";
  for (const bool unsandboxed : {false, true}) {
    command_.unsandboxed = unsandboxed;
    const Boxed boxed = box();
    const sandbox::Profile& profile = boxed.chosen.value().profile;
    EXPECT_TRUE(profile.takes_nothing_else());
    EXPECT_EQ(profile.hidden, sandbox::Texts{project.Sub("a.key")});
    EXPECT_EQ(profile.read_only, sandbox::Texts{project.Sub("locked")});
    EXPECT_NE(BoxText(boxed).value().text.find(R"("only":"hides")"), std::string::npos);
  }
  Force("landlock-alone");
  EXPECT_FALSE(HidingOf(rules).outside);
  EXPECT_FALSE(box().chosen) << "policy refuses there what cannot be told";
}

}  // namespace
}  // namespace stet::agent
