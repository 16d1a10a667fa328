#include "lane/hooks.h"

#include <gtest/gtest.h>

#include "agent/scripted_model_fixture.h"
#include "agent/workbench_fixture.h"
#include "base/fs.h"
#include "device/model_access.h"
#include "lane/setup.h"

namespace stet::lane {
namespace {

class LaneHooksTest : public agent::WorkbenchTest {
 protected:
  LaneHooksTest() {
    bench_->model = &model_;
    workspace_.project = workspace_.cwd = temp_.path();
    setup_.variables = ProcessVariables({});
    setup_.fresh = true;
  }
  ~LaneHooksTest() override { loop_.Abandon(); }

  void Hook(const std::string& event, const std::string& command) {
    using Kind = config::HookSettings::Kind;
    config::HookList list;
    list.push_back({event, "", Kind::kCommand, command, 0, 1});
    ASSERT_TRUE(hook::AddHooks(list, "config.toml", setup_.hooks));
  }
  /// Hears everything, and answers its one command; what it hears is in the file `heard`.
  void Extension() {
    hook::ExtensionManifest& manifest = setup_.extensions.emplace_back();
    manifest.id = "say";
    manifest.command = {"bash", "-c", R"(while read -r line; do
  echo "$line" >> heard
  case "$line" in *'"id":'[0-9]*)
    id=${line#*\"id\":}; id=${id%%,*}
    echo "{\"id\":$id,\"result\":{\"text\":\"said\"}}";;
  esac
done)"};
    manifest.commands.push_back({.name = "say", .description = "says it"});
    manifest.events = {"*"};
    manifest.folder = temp_.path();
  }
  std::string Written(const std::string& name) { return ReadFile(temp_.Sub(name)).value_or(""); }
  void AwaitStart() { loop_.RunUntilDone(hooks_.AwaitStart()); }
  void TellEnd(bool sleeps) { loop_.RunUntilDone(hooks_.TellEnd(sleeps)); }

  agent::ScriptedModel model_;
  device::ModelAccess models_{loop_};
  LaneSetup setup_{.loop = loop_, .models = models_};
  LaneHooks hooks_{*bench_};
};

TEST_F(LaneHooksTest, TheBeginningAndTheEndOfASessionAreTold) {
  Hook("SessionStart", "cat > start");
  Hook("SessionEnd", "cat > end");
  hooks_.OpenHooks(setup_);
  AwaitStart();
  EXPECT_TRUE(Written("start").contains(R"("source":"startup")")) << Written("start");
  EXPECT_EQ(Written("end"), "");
  TellEnd(false);
  EXPECT_TRUE(Written("end").contains(R"("hook_event_name":"SessionEnd")")) << Written("end");
}

TEST_F(LaneHooksTest, ASessionThatSleepsAndWakesHasNotEndedOrBegun) {
  Hook("SessionStart", "cat > start");
  Hook("SessionEnd", "cat > end");
  setup_.fresh = false;
  setup_.woken = true;
  hooks_.OpenHooks(setup_);
  EXPECT_FALSE(hooks_.starting());
  AwaitStart();
  TellEnd(true);
  EXPECT_EQ(Written("start") + Written("end"), "");
}

TEST_F(LaneHooksTest, OneThatIsOpenedAgainIsResumed) {
  Hook("SessionStart", "cat > start");
  setup_.fresh = false;
  hooks_.OpenHooks(setup_);
  AwaitStart();
  EXPECT_TRUE(Written("start").contains(R"("source":"resume")")) << Written("start");
}

TEST_F(LaneHooksTest, WhatAHookAddsIsOwedWhenTheBeginningHasBeenTold) {
  Hook("SessionStart", "echo the word is xyzzy");
  hooks_.OpenHooks(setup_);
  EXPECT_TRUE(hooks_.starting());
  AwaitStart();
  EXPECT_FALSE(hooks_.starting());
  const std::vector<protocol::Owed> owed = All<protocol::Owed>();
  ASSERT_EQ(owed.size(), 1U);
  EXPECT_TRUE(owed[0].text.contains("the word is xyzzy"));
  EXPECT_EQ(owed[0].by, "hook:SessionStart/1");
}

TEST_F(LaneHooksTest, AHookThatHangsAtTheBeginningIsEndedByACancel) {
  Hook("SessionStart", "sleep 1000; echo late");
  hooks_.OpenHooks(setup_);
  hooks_.Cancel();
  AwaitStart();
  EXPECT_TRUE(All<protocol::Owed>().empty());
}

TEST_F(LaneHooksTest, ASessionMayEndBeforeItsBeginningWasTold) {
  Hook("SessionStart", "echo begun >> told");
  Hook("SessionEnd", "echo ended >> told");
  auto whole = [this]() -> Async<void> {
    hooks_.OpenHooks(setup_);
    co_await hooks_.TellEnd(false);
  };
  loop_.RunUntilDone(whole());
  EXPECT_EQ(Written("told"), "begun\nended\n");
}

TEST_F(LaneHooksTest, WithoutExtensionsThereIsNoCommand) {
  ASSERT_TRUE(hooks_.OpenExtensions(setup_));
  EXPECT_EQ(bench_->extensions, nullptr);
  EXPECT_TRUE(hooks_.Commands().empty());
  const auto reply = loop_.RunUntilDone(hooks_.RunCommand("say", ""));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::kNotFound);
  TellEnd(false);
}

TEST_F(LaneHooksTest, AnExtensionHearsTheLogAndTheEndAndAnswersItsCommand) {
  Extension();
  ASSERT_TRUE(hooks_.OpenExtensions(setup_));
  EXPECT_EQ(hooks_.Commands(), std::vector<std::string>{"say"});
  Append(log::User("hello"));
  const auto reply = loop_.RunUntilDone(hooks_.RunCommand("say", "it"));
  ASSERT_TRUE(reply) << reply.error().Text();
  EXPECT_EQ(reply->text, "said");
  EXPECT_EQ(loop_.RunUntilDone(hooks_.RunCommand("sing", "")).error().code, Code::kNotFound);
  TellEnd(true);
  const std::string heard = Written("heard");
  const std::size_t start = heard.find("session_start");
  const std::size_t message = heard.find("hello");
  const std::size_t end = heard.find("session_end");
  EXPECT_LT(start, message) << heard;
  EXPECT_LT(message, end) << heard;
  EXPECT_NE(end, std::string::npos) << heard;
}

}  // namespace
}  // namespace stet::lane
