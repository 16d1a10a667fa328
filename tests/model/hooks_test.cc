// Hooks and extensions in a session with a client that answers: what is asked, compactions,
// background commands, and a model that judges.
#include "client/await.h"
#include "store/session_store.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

class HooksLiveTest : public LiveTest {
 protected:
  static std::string Hook(const std::string& event, const std::string& command) {
    return "[[hooks." + event + "]]\ncommand='''" + command + "'''\n";
  }
  std::string Written(const std::string& name) const {
    return ReadFile(project_ + "/" + name, 1 << 20).value_or("");
  }
  /// Ends the session, and with it every hook that the turn did not wait for.
  void Close() {
    ASSERT_TRUE(client::Await(*session_, &client::LiveSession::Close));
    if (host_) host_->Stop();  // A session of a host goes on when its client leaves.
  }
  /// How the task ended, as the log has it; nothing: it has not.
  std::optional<protocol::Task> EndInLog(const std::string& task_id) {
    const auto log =
        log::Log::Open(store::SessionStore(roots_).Find(session_id_).value(), log::Options());
    EXPECT_TRUE(log) << log.error().Text();
    for (log::Ordinal at = 0; log && at < (*log)->index().entries().size(); ++at) {
      const Result<protocol::Event> event = (*log)->EventAt(at);
      const auto* task = event ? std::get_if<protocol::Task>(&event->payload) : nullptr;
      if (task != nullptr && task->task_id == task_id && task->ends()) return *task;
    }
    return std::nullopt;
  }
  protocol::PermissionAsk Asked() {
    heard_->Await<protocol::Permission>(
        [](const protocol::Permission& one) { return one.phase == "asked"; });
    const protocol::PermissionAsks asks = State().asks;
    EXPECT_EQ(asks.size(), 1U);
    return asks.empty() ? protocol::PermissionAsk() : asks[0];
  }
};

constexpr std::string_view kTouch = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"touch out.txt"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

TEST_F(HooksLiveTest, AHookHasSomethingAskedThatWouldRun) {
  more_settings_ = Hook("PreToolUse", R"(echo '{"hookSpecificOutput":{"permissionDecision":"ask",)"
                                      R"("permissionDecisionReason":"look at it"}}')") +
                   Hook("Notification", "cat >> told.jsonl");
  Script(kTouch);
  Open(Here("bypass", true));
  const auto turn = Send("go");
  const protocol::PermissionAsk ask = Asked();
  EXPECT_EQ(ask.reason, "look at it");
  EXPECT_EQ(ask.rule, "hook:PreToolUse/1");
  EXPECT_FALSE(Exists(project_ + "/out.txt"));
  protocol::PermissionAnswer answer;
  answer.request_id = ask.request_id;
  answer.allow = true;
  answer.scope = "once";
  EXPECT_TRUE(client::Await(*session_, &client::LiveSession::Answer, answer));
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "completed");
  EXPECT_TRUE(Exists(project_ + "/out.txt"));
  Close();
  EXPECT_NE(Written("told.jsonl").find(R"("notification_type":"permission_prompt")"),
            std::string::npos);
}

TEST_F(HooksLiveTest, APermissionIsDeniedInTheUsersPlaceAndTheTurnEnds) {
  more_settings_ =
      Hook("PermissionRequest", R"(echo '{"hookSpecificOutput":{"decision":{"behavior":"deny",)"
                                R"("message":"tomorrow","interrupt":true}}}')");
  Script(kTouch);
  Open(Here("default", true));
  const protocol::TurnReport end = Run("go");
  EXPECT_EQ(end.reason, "stopped");
  ASSERT_EQ(end.denials.size(), 1U);
  EXPECT_EQ(end.denials[0].rule, "hook:PermissionRequest/1");
  EXPECT_TRUE(heard_->All<protocol::Permission>().empty()) << "nobody else was asked";
}

TEST_F(HooksLiveTest, ACompactionIsToldBeforeAndAfterAndMayBeRefused) {
  more_settings_ = Hook("PreCompact",
                        "cat >> compact.jsonl; [ -e refuse ] && exit 2; "
                        R"(echo '{"hookSpecificOutput":)"
                        R"({"additionalContext":"keep the names"}}')") +
                   Hook("PostCompact", "cat >> compact.jsonl") +
                   Hook("SessionStart", "grep -q '\"source\":\"compact\"' && echo after it");
  const std::string text(4000, 'x');
  Script(R"({"replies":[{"when":{"contains":"keep the names"},"blocks":[{"text":"The summary."}]},
    {"times":0,"blocks":[{"text":")" +
         text + R"("}]}]})");
  Open(Here());
  Run("one");
  Run("two");
  ASSERT_TRUE(ReplaceFile(project_ + "/refuse", "", Durable::kNo));
  EXPECT_EQ(EndOf(*Send("", "compact").turn_id).reason, "error");
  EXPECT_TRUE(heard_->All<protocol::Compaction>().empty());
  std::filesystem::remove(project_ + "/refuse");
  EXPECT_EQ(EndOf(*Send("the plan", "compact").turn_id).reason, "completed");
  ASSERT_EQ(heard_->All<protocol::Compaction>().size(), 1U);
  EXPECT_NE(heard_->All<protocol::Compaction>()[0].summary.find("The summary."), std::string::npos);
  const std::string told = Written("compact.jsonl");
  EXPECT_NE(told.find(R"("trigger":"manual","custom_instructions":"the plan")"), std::string::npos)
      << told;
  EXPECT_NE(told.find(R"("hook_event_name":"PostCompact")"), std::string::npos) << told;
  Run("three");
  EXPECT_NE(Requests().back().find("after it"), std::string::npos);
}

TEST_F(HooksLiveTest, BackgroundCommandsAreTold) {
  more_settings_ = Hook("TaskCreated", "cat >> tasks.jsonl") +
                   Hook("TaskCompleted", "cat >> tasks.jsonl") +
                   "[tools]\ntaskEndStartsTurn=false\n";
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo hi","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  heard_->Await<protocol::Task>([](const protocol::Task& task) { return task.phase == "end"; });
  Close();
  const std::string told = Written("tasks.jsonl");
  EXPECT_NE(told.find(R"("hook_event_name":"TaskCreated")"), std::string::npos) << told;
  EXPECT_NE(told.find(R"("task_subject":"echo hi")"), std::string::npos) << told;
  EXPECT_NE(told.find(R"("hook_event_name":"TaskCompleted")"), std::string::npos) << told;
}

TEST_F(HooksLiveTest, ACommandThatStillRunsAtTheEndIsNoMatter) {
  more_settings_ = Hook("TaskCompleted", "cat >> tasks.jsonl");
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"sleep 1000","background":true}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  Run("go");
  Close();
  EXPECT_TRUE(EndInLog("shell-1"));
}

TEST_F(HooksLiveTest, TheAuxiliaryModelJudgesAPrompt) {
  Script(R"({"replies":[{"when":{"contains":"Is this kind?"},"times":0,
      "blocks":[{"text":"{\"ok\":false,\"reason\":\"be kind\"}"}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  const std::string role =
      "[model.roles]\nauxiliary='judge'\n[models.judge]\ntype='custom'\n"
      "id='j'\napi='anthropic-messages'\nbaseUrl='" +
      emulator_->base_url() + "'\n";
  const std::string before = ReadFile(roots_.settings()).value_or("");
  ASSERT_TRUE(ReplaceFile(roots_.settings(),
                          before + role +
                              "[[hooks.UserPromptSubmit]]\ntype='prompt'\n"
                              "prompt='Is this kind? $ARGUMENTS'\n",
                          Durable::kNo));
  Open(Here());
  const protocol::TurnReport end = Run("do it at once");
  EXPECT_EQ(end.reason, "stopped");
  EXPECT_EQ(end.error, "a hook blocked the prompt: be kind");
}

TEST_F(HooksLiveTest, AnExtensionsCommandIsRunAndMaySendAPrompt) {
  const std::string folder = roots_.config + "/extensions/say";
  ASSERT_TRUE(MakeDirs(folder));
  ASSERT_TRUE(ReplaceFile(folder + "/extension.toml",
                          "id='say'\ncommand=['bash','run.sh']\n"
                          "[[commands]]\nname='say'\ndescription='says it'\n",
                          Durable::kNo));
  ASSERT_TRUE(ReplaceFile(folder + "/run.sh",
                          "read -r activate\nread -r command\n"
                          "echo '{\"id\":2,\"result\":{\"text\":\"said\",\"prompt\":\"do it\"}}'\n"
                          "cat > /dev/null\n",
                          Durable::kNo));
  Script(R"({"replies":[{"times":0,"blocks":[{"text":"Done."}]}]})");
  Open(Here());
  EXPECT_EQ(State().commands, (protocol::Texts{"say"}));
  const Result<std::string> said =
      client::Await(*session_, &client::LiveSession::Command, "say", "it");
  ASSERT_TRUE(said) << said.error().Text();
  EXPECT_EQ(*said, "said");
  EXPECT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>());
  ASSERT_EQ(Requests().size(), 1U);
  EXPECT_NE(Requests()[0].find("do it"), std::string::npos);
  EXPECT_EQ(client::Await(*session_, &client::LiveSession::Command, "none", "").error().code,
            Code::kNotFound);
}

}  // namespace
}  // namespace stet::test
