#include "lane/lanes.h"

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "device/model_access.h"
#include "lane/lane.h"
#include "log/log.h"

namespace stet::lane {
namespace {

/// What a lane tells its listener, in order; "opened", "closed" and the types of events.
class Recorder final : public LaneListener {
 public:
  void Opened(log::Log& log) override {
    told.emplace_back("opened");
    subscription_ = log.Subscribe([this](const log::Published& what) {
      if (what.event != nullptr) told.emplace_back(protocol::TypeName(what.event->payload));
    });
  }
  void Closed() override {
    told.emplace_back("closed");
    subscription_ = log::Subscription();
  }

  std::vector<std::string> told;

 private:
  log::Subscription subscription_;
};

/// Sessions that work with the built-in model.
class LanesTest : public testing::Test {
 protected:
  LanesTest() {
    EXPECT_TRUE(MakeDirs(project_));
    EXPECT_TRUE(MakeDirs(roots_.config));
  }

  [[nodiscard]] protocol::Attach New() const {
    protocol::Attach attach;
    attach.cwd = project_;
    attach.model = "offline";
    return attach;
  }
  [[nodiscard]] static protocol::Attach Of(const std::string& id) {
    protocol::Attach attach;
    attach.session_id = id;
    return attach;
  }
  Result<Lane*> Open(const std::string& id, protocol::Attach attach, const Asking& asking = {}) {
    return loop_.RunUntilDone(lanes_.Open(id, std::move(attach), std::nullopt, asking));
  }
  /// What rules say in the session: "allow Bash, deny Write".
  std::string RulesOf(const std::string& id) const {
    std::string rules;
    const protocol::PermissionReport report = lanes_.Find(id)->Permissions().value();
    for (const protocol::RuleRow& row : report.rules)
      rules += (rules.empty() ? "" : ", ") + row.verdict + " " + row.rule;
    return rules;
  }
  std::string Make(protocol::Attach attach) {
    const Result<std::string> id = lanes_.Name(attach);
    EXPECT_TRUE(id);
    const Result<Lane*> lane = Open(*id, std::move(attach));
    EXPECT_TRUE(lane) << lane.error().Text();
    return *id;
  }
  Status Close(const std::string& id) { return loop_.RunUntilDone(lanes_.Close(id, true)); }

  TempDir dir_;
  std::string project_ = dir_.path() + "/project";
  config::Roots roots_{.data = dir_.path() + "/home", .config = dir_.path() + "/home"};
  Loop loop_;
  device::ModelAccess models_{loop_};
  Lanes lanes_{loop_, roots_, models_};
};

TEST_F(LanesTest, ASessionSleepsWhenItIsClosedAndWakesAsItWasOpened) {
  protocol::Attach attach = New();
  attach.mode = "acceptEdits";
  const std::string id = Make(attach);
  EXPECT_EQ(lanes_.presence(id), Presence::kAwake);
  EXPECT_EQ(lanes_.awake_count(), 1U);
  ASSERT_TRUE(Close(id));
  EXPECT_EQ(lanes_.presence(id), Presence::kAsleep);
  EXPECT_EQ(lanes_.Find(id), nullptr);
  const Result<Lane*> woken = loop_.RunUntilDone(lanes_.Wake(id));
  ASSERT_TRUE(woken) << woken.error().Text();
  EXPECT_EQ((*woken)->State().mode, "acceptEdits");
  EXPECT_EQ((*woken)->State().cwd, project_);
}

TEST_F(LanesTest, AListenerHearsEverythingFromTheFirstAppendOfEveryOpening) {
  protocol::Attach attach = New();
  attach.mode = "plan";  // Which the log is told of when the lane opens.
  const std::string id = lanes_.Name(attach).value();
  Recorder recorder;
  lanes_.Listen(id, recorder);
  ASSERT_TRUE(Open(id, attach));
  ASSERT_TRUE(Close(id));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(recorder.told,
            (std::vector<std::string>{"opened", "session_info", "closed", "opened"}));
  lanes_.Unlisten(id, recorder);
}

TEST_F(LanesTest, OneThatIsAwakeIsJoinedAndChangedAtOnce) {
  const std::string id = Make(New());
  const Lane* before = lanes_.Find(id);
  protocol::Attach again = Of(id);
  again.mode = "plan";
  const Result<Lane*> joined = Open(id, again);
  ASSERT_TRUE(joined) << joined.error().Text();
  EXPECT_EQ(*joined, before);
  EXPECT_EQ((*joined)->State().mode, "plan");
}

TEST_F(LanesTest, ASessionThatAnotherClientHasOpenStaysAsThatOneOpenedIt) {
  protocol::Attach attach = New();
  attach.disallowed = "Bash";
  const std::string id = Make(attach);
  const Lane* before = lanes_.Find(id);
  EXPECT_TRUE(Open(id, Of(id), {.others_hold = true})) << "asks for nothing";
  protocol::Attach loose = Of(id);
  loose.allowed = "Bash(make*)";
  loose.mode = "bypass";
  loose.max_steps = 3;
  const Result<Lane*> refused = Open(id, loose, {.others_hold = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_TRUE(refused.error().message.contains("--allowed-tools, --max-turns, --permission-mode"))
      << refused.error().message;
  EXPECT_EQ(lanes_.Find(id), before);
  EXPECT_EQ(lanes_.Find(id)->State().mode, "default");
  EXPECT_EQ(RulesOf(id), "deny Bash");
}

TEST_F(LanesTest, WhatOneOfTwoClientsForbidsIsForbiddenToBoth) {
  protocol::Attach attach = New();
  attach.disallowed = "Bash";
  attach.mode = "bypass";
  const std::string id = Make(attach);
  protocol::Attach second = Of(id);
  second.disallowed = "Write";
  ASSERT_TRUE(Open(id, second, {.others_hold = true}));
  EXPECT_EQ(RulesOf(id), "deny Bash, deny Write");
  ASSERT_TRUE(Open(id, second, {.others_hold = true}));
  EXPECT_EQ(RulesOf(id), "deny Bash, deny Write") << "each once";
  EXPECT_EQ(lanes_.Find(id)->State().mode, "bypass") << "as the first one has it";
}

TEST_F(LanesTest, OptionsEndWithTheClientThatHadThem) {
  protocol::Attach attach = New();
  attach.allowed = "Bash(make*)";
  attach.mode = "bypass";
  const std::string id = Make(attach);
  EXPECT_EQ(RulesOf(id), "allow Bash(make*)");
  lanes_.Release(id);
  ASSERT_TRUE(Open(id, Of(id)));
  EXPECT_EQ(RulesOf(id), "");
  EXPECT_EQ(lanes_.Find(id)->State().mode, "default");
}

TEST_F(LanesTest, WhatIsStartedLaterIsNotUnderOptionsOfAClientThatHasLeft) {
  protocol::Attach attach = New();
  attach.mode = "bypass";
  const std::string id = Make(attach);
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.EndLeftOptions(id)));
  EXPECT_EQ(lanes_.Find(id)->State().mode, "bypass") << "it is still there";
  lanes_.Release(id);
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.EndLeftOptions(id)));
  const Result<Lane*> woken = loop_.RunUntilDone(lanes_.Wake(id));
  ASSERT_TRUE(woken) << woken.error().Text();
  EXPECT_EQ((*woken)->State().mode, "default");
}

TEST_F(LanesTest, WhatAnOpeningForbadeOutlivesItForThoseWhoMayNotLoosenIt) {
  protocol::Attach attach = New();
  attach.disallowed = "Bash";
  attach.mode = "acceptEdits";
  const std::string id = Make(attach);
  lanes_.Release(id);
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.EndLeftOptions(id)));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(RulesOf(id), "deny Bash") << "its mode is in force, too";
  ASSERT_TRUE(Close(id));
  lanes_.Forget(id);
  const Asking sender{.client_id = "sender", .may_loosen = false};
  ASSERT_TRUE(Open(id, Of(id), sender));
  EXPECT_EQ(RulesOf(id), "deny Bash") << "the log has it";
  protocol::Attach fork = Of(id);
  fork.fork = true;
  const Result<std::string> copy = lanes_.Name(fork);
  ASSERT_TRUE(copy && Open(*copy, fork, sender));
  EXPECT_EQ(RulesOf(*copy), "deny Bash");
  ASSERT_TRUE(Open(id, Of(id)));
  EXPECT_EQ(RulesOf(id), "") << "the user's own opening says what holds";
  ASSERT_TRUE(Close(id));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(RulesOf(id), "");
}

TEST_F(LanesTest, OptionsOfAnOpeningThatNoClientHoldsCountForItsClientAlone) {
  protocol::Attach attach = New();
  attach.mode = "bypass";
  const Result<std::string> id = lanes_.Name(attach);
  ASSERT_TRUE(id && Open(*id, attach, {.client_id = "http"}));
  lanes_.Release(*id, "http");
  ASSERT_TRUE(Open(*id, Of(*id), {.client_id = "http"}));
  EXPECT_EQ(lanes_.Find(*id)->State().mode, "bypass");
  lanes_.Release(*id, "terminal");
  ASSERT_TRUE(Open(*id, Of(*id), {.client_id = "terminal"}));
  EXPECT_EQ(lanes_.Find(*id)->State().mode, "default");
}

TEST_F(LanesTest, AModeThatWasChangedSinceIsTheOneThatASessionWakesIn) {
  protocol::Attach attach = New();
  attach.mode = "bypass";
  const std::string id = Make(attach);
  ASSERT_TRUE(Close(id));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(lanes_.Find(id)->State().mode, "bypass") << "it only slept";
  protocol::Change change;
  change.mode = "plan";
  ASSERT_TRUE(lanes_.Find(id)->Change(change));
  ASSERT_TRUE(Close(id));
  ASSERT_TRUE(loop_.RunUntilDone(lanes_.Wake(id)));
  EXPECT_EQ(lanes_.Find(id)->State().mode, "plan");
}

TEST_F(LanesTest, NoSecondSessionIsMadeUnderAnIdThatThereIs) {
  const std::string id = Make(New());
  protocol::Attach same = New();
  same.new_session_id = id;
  const Result<Lane*> refused = Open(id, same);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_EQ(lanes_.presence(id), Presence::kAwake);
}

TEST_F(LanesTest, AnotherOwnerIsRefusedWhileTheLaneHoldsTheLock) {
  const std::string id = Make(New());
  Lanes other(loop_, roots_, models_);
  const Result<Lane*> refused =
      loop_.RunUntilDone(other.Open(id, Of(id), std::optional<Environment>()));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_EQ(other.presence(id), Presence::kAsleep);
  ASSERT_TRUE(Close(id));
  EXPECT_TRUE(loop_.RunUntilDone(other.Wake(id)));
}

TEST_F(LanesTest, AFailedOpeningLeavesTheSessionAsleep) {
  const std::string id = Make(New());
  ASSERT_TRUE(Close(id));
  protocol::Attach wrong = Of(id);
  wrong.mode = "sideways";
  EXPECT_FALSE(Open(id, wrong));
  EXPECT_EQ(lanes_.presence(id), Presence::kAsleep);
  EXPECT_TRUE(Open(id, Of(id)));
}

}  // namespace
}  // namespace stet::lane
