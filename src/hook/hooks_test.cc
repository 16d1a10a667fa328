#include "hook/hooks.h"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "hook/kinds.h"
#include "net/http.h"
#include "net/raw_server_fixture.h"

namespace stet::hook {
namespace {

using Kind = config::HookSettings::Kind;

class HooksTest : public testing::Test {
 protected:
  void Add(const std::string& event, const std::string& what, Kind kind = Kind::kCommand,
           std::int64_t timeout = 0, const std::string& matcher = "") {
    list_.push_back({event, matcher, kind, what, timeout, 1});
  }

  Hooks Make() {
    std::vector<Hook> hooks;
    EXPECT_TRUE(AddHooks(list_, "config.toml", hooks));
    return Hooks(std::move(hooks), {.loop = loop_,
                                    .http = &http_,
                                    .ask = ask_,
                                    .project = dir_.path(),
                                    .variables = ProcessVariables({"STET_TEST_SECRET"})});
  }

  Verdict Run(Occasion occasion, const CancelToken& cancel = {}) {
    Hooks hooks = Make();
    return loop_.RunUntilDone(
        hooks.Run(Moment{.session_id = "ses_1"}, std::move(occasion), cancel));
  }

  static Occasion Bash() {
    static const Raw args{R"({"command":"ls"})"};
    return OnPreToolUse({"Bash", args, "call_1"});
  }

  TempDir dir_;
  Loop loop_;
  net::HttpClient http_{loop_};
  Asker ask_;
  config::HookList list_;
};

TEST_F(HooksTest, ACommandIsGivenTheInputInTheProjectWithoutKeys) {
  ::setenv("STET_TEST_SECRET", "sesame", 1);
  Add("PreToolUse", "cat > input; pwd -P > where; env > environment");
  Run(Bash());
  const std::string input = ReadFile(dir_.Sub("input")).value_or("");
  EXPECT_NE(input.find(R"("tool_name":"Bash","tool_input":{"command":"ls"})"), std::string::npos);
  EXPECT_TRUE(input.ends_with("}\n"));
  EXPECT_NE(ReadFile(dir_.Sub("where")).value_or("").find(dir_.path()), std::string::npos);
  const std::string environment = ReadFile(dir_.Sub("environment")).value_or("");
  EXPECT_NE(environment.find("STET_PROJECT_DIR=" + dir_.path() + "\n"), std::string::npos);
  EXPECT_EQ(environment.find("sesame"), std::string::npos);
  ::unsetenv("STET_TEST_SECRET");
}

TEST_F(HooksTest, ExitCodesSayWhetherItBlocks) {
  Add("PreToolUse", "echo not here >&2; exit 2");
  Verdict verdict = Run(Bash());
  EXPECT_EQ(verdict.permission, Permission::kDeny);
  EXPECT_EQ(verdict.decided, (Said{"hook:PreToolUse/1", "not here"}));
  list_.clear();
  Add("PreToolUse", "echo broken >&2; exit 1");
  verdict = Run(Bash());
  EXPECT_EQ(verdict.permission, Permission::kNone);
  EXPECT_EQ(verdict.messages,
            (std::vector<Said>{{"hook:PreToolUse/1", "it ended with exit code 1: broken"}}));
}

TEST_F(HooksTest, OnlyThoseThatAreMeantRun) {
  Add("PreToolUse", "touch edit", Kind::kCommand, 0, "Edit|Write");
  Add("PreToolUse", "touch bash", Kind::kCommand, 0, "Ba.h");
  Add("Stop", "touch stop");
  const Hooks hooks = Make();
  EXPECT_TRUE(hooks.Wants(Event::kPreToolUse, "Bash"));
  EXPECT_FALSE(hooks.Wants(Event::kPreToolUse, "Read"));
  Run(Bash());
  EXPECT_TRUE(Exists(dir_.Sub("bash")));
  EXPECT_FALSE(Exists(dir_.Sub("edit")));
  EXPECT_FALSE(Exists(dir_.Sub("stop")));
}

TEST_F(HooksTest, TheyRunSideBySideAndCountInTheOrderOfTheFile) {
  // The first one ends only when the second one runs.
  ASSERT_EQ(::mkfifo(dir_.Sub("pipe").c_str(), 0600), 0);
  Add("SessionStart", "read line < pipe; echo first");
  Add("SessionStart", "echo > pipe; echo second");
  const Verdict verdict = Run(OnSessionStart("startup", "m"));
  EXPECT_EQ(verdict.contexts, (std::vector<Said>{{"hook:SessionStart/1", "first"},
                                                 {"hook:SessionStart/2", "second"}}));
}

TEST_F(HooksTest, OneThatHangsIsKilledWithWhatItStarted) {
  Add("PreToolUse", "trap '' TERM; echo $$ > pid; sleep 1000 & wait; sleep 1000", Kind::kCommand,
      1);
  const auto before = SystemClock().Steady();
  const Verdict verdict = Run(Bash());
  EXPECT_LT(SystemClock().Steady() - before, std::chrono::seconds(10));
  EXPECT_EQ(verdict.permission, Permission::kNone);
  EXPECT_EQ(verdict.messages,
            (std::vector<Said>{{"hook:PreToolUse/1", "it was stopped after 1 s"}}));
  const pid_t pid = std::stoi(ReadFile(dir_.Sub("pid")).value_or("0"));
  // The process that inherits its children may take a moment to reap them.
  const Deadline deadline = Deadline::After(std::chrono::seconds(30));
  while (::kill(-pid, 0) == 0 && !deadline.Passed()) ::poll(nullptr, 0, 1);
  EXPECT_NE(::kill(-pid, 0), 0) << "its group is gone";
}

TEST_F(HooksTest, AFloodIsReadAndOnlyItsBeginningKept) {
  Add("SessionStart", "head -c 20000000 /dev/zero | tr '\\0' x");
  const Verdict verdict = Run(OnSessionStart("startup", "m"));
  ASSERT_EQ(verdict.contexts.size(), 1U);
  EXPECT_LT(verdict.contexts[0].text.size(), kMaxTextBytes + 100);
}

TEST_F(HooksTest, WhatIsCancelledCountsForNothing) {
  Add("PreToolUse", "touch began; sleep 1000; exit 2");
  CancelSource source;
  Timer poll(loop_);
  std::function<void()> look = [&] {
    if (Exists(dir_.Sub("began")))
      source.Cancel();
    else
      poll.Start(std::chrono::milliseconds(5), look);
  };
  poll.Start(std::chrono::milliseconds(5), look);
  const Verdict verdict = Run(Bash(), source.token());
  EXPECT_EQ(verdict.permission, Permission::kNone);
  EXPECT_TRUE(verdict.messages.empty());
}

TEST_F(HooksTest, AnAddressIsGivenTheInputAndItsReplyCounts) {
  std::string request;
  net::RawServer server([&](net::Peer& peer) {
    request = peer.ReadRequest();
    EXPECT_TRUE(
        peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 37\r\n\r\n"
                   "{\"decision\":\"block\",\"reason\":\"later\"}"));
  });
  Add("Stop", server.Url() + "/stop", Kind::kHttp);
  const Verdict verdict = Run(OnStop(false, "Done."));
  EXPECT_TRUE(verdict.blocks);
  EXPECT_EQ(verdict.block.text, "later");
  EXPECT_TRUE(request.starts_with("POST /path/stop "));
  EXPECT_NE(request.find(R"("hook_event_name":"Stop")"), std::string::npos);
}

TEST_F(HooksTest, AnAddressThatFailsIsTold) {
  net::RawServer server([&](net::Peer& peer) {
    peer.ReadRequest();
    EXPECT_TRUE(peer.Write("HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\noops"));
  });
  Add("Stop", server.Url(), Kind::kHttp);
  const Verdict verdict = Run(OnStop(false, ""));
  EXPECT_FALSE(verdict.blocks);
  EXPECT_EQ(verdict.messages,
            (std::vector<Said>{{"hook:Stop/1", "it answered with status 500: oops"}}));
}

TEST_F(HooksTest, APromptIsAskedWithTheInputInItsPlace) {
  std::string asked;
  ask_ = [&](std::string prompt, CancelToken) -> Async<Result<std::string>> {
    asked = prompt;
    co_return R"(Well: {"ok":false,"reason":"too much"})";
  };
  Add("UserPromptSubmit", "Judge $ARGUMENTS now", Kind::kPrompt);
  const Verdict verdict = Run(OnUserPromptSubmit("go"));
  EXPECT_TRUE(verdict.blocks);
  EXPECT_EQ(verdict.block.text, "too much");
  EXPECT_TRUE(asked.starts_with("Judge {\"session_id\"")) << asked;
  EXPECT_TRUE(asked.ends_with("} now")) << asked;
}

TEST_F(HooksTest, WithoutAModelAPromptIsToldAndGoesOn) {
  Add("UserPromptSubmit", "Judge", Kind::kPrompt);
  const Verdict verdict = Run(OnUserPromptSubmit("go"));
  EXPECT_FALSE(verdict.blocks);
  ASSERT_EQ(verdict.messages.size(), 1U);
}

TEST_F(HooksTest, WhatNobodyWaitsForEndsWithFinish) {
  Add("Notification", "echo > told");
  Hooks hooks = Make();
  bool told = false;
  hooks.Notify({}, OnNotification("question", "?"), [&](const Verdict&) { told = true; });
  loop_.RunUntilDone(hooks.Finish());
  EXPECT_TRUE(told);
  EXPECT_TRUE(Exists(dir_.Sub("told")));
  bool late = false;
  hooks.Notify({}, OnNotification("question", "?"), [&](const Verdict&) { late = true; });
  loop_.RunUntilDone(hooks.Finish());
  EXPECT_FALSE(late);
}

TEST(PromptReplyTest, WordsAroundItDoNotMatter) {
  EXPECT_EQ(ReadPromptReply(Event::kStop, "```json\n{\"ok\":true}\n```"), Output());
  EXPECT_TRUE(ReadPromptReply(Event::kStop, R"({"decision":"block","reason":"x"})")->blocks);
  EXPECT_FALSE(ReadPromptReply(Event::kStop, "yes"));
  EXPECT_FALSE(ReadPromptReply(Event::kStop, "} {"));
  EXPECT_FALSE(ReadPromptReply(Event::kStop, R"({"ok":"no"})"));
}

}  // namespace
}  // namespace stet::hook
