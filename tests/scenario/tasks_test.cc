// `stet tasks` and /tasks: what runs in the background of a session, in the host, in another
// process, and after that one died.
#include <csignal>

#include <poll.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "json/view.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

/// The model leaves a command in the background, and says so.
constexpr std::string_view kServes = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"echo listening; sleep 1000","background":true}}}]},
  {"times":0,"blocks":[{"text":"It runs."}]}]})";

class TasksTest : public InteractiveTest {
 protected:
  /// The first task's row, once `state` is so.
  JsonView Row(const std::string& state) {
    for (int tries = 0; tries < 1000; ++tries) {
      list_ = program_.Run({"tasks", "ls", "--json"}).out;
      row_.clear();
      JsonView(list_).ForEach([&](const JsonView& row) {
        if (row["taskId"].StringOr("") == "shell-1") row_ = row.text();
      });
      if (JsonView(row_)["state"].StringOr("") == state) break;
      ::poll(nullptr, 0, 10);
    }
    EXPECT_EQ(JsonView(row_)["state"].StringOr(""), state) << list_;
    return JsonView(row_);
  }

  std::string list_;
  std::string row_;
};

TEST_F(TasksTest, TheHostsTasksAreListedShownReadAndStopped) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(kServes);
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  const Ran ran = program_.Run({"-p", "--host", "--permission-mode", "bypass", "serve"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const JsonView row = Row("running");
  EXPECT_EQ(row["name"].StringOr(""), "echo listening; sleep 1000");
  EXPECT_EQ(row["kind"].StringOr(""), "shell");
  const Ran listed = program_.Run({"tasks", "ls"});
  EXPECT_TRUE(listed.out.starts_with("shell-1")) << listed.out;
  EXPECT_NE(listed.out.find("running"), std::string::npos) << listed.out;
  EXPECT_EQ(program_.Run({"tasks", "output", "shell-1"}).out, "listening\n");

  const Ran unknown = program_.Run({"tasks", "stop", "shell-7"});
  EXPECT_NE(unknown.exit_code, 0);
  EXPECT_NE(unknown.err.find("this session's tasks are shell-1"), std::string::npos) << unknown.err;
  const Ran stopped = program_.Run({"tasks", "stop", "shell-1"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_TRUE(stopped.out.starts_with("shell-1 (echo listening; sleep 1000) was stopped: killed"))
      << stopped.out;
  // It was waited for: the first look finds its end.
  EXPECT_NE(program_.Run({"tasks", "ls"}).out.find("killed"), std::string::npos);
  EXPECT_GT(Row("killed")["endedAt"].IntOr(0), 0);
  EXPECT_EQ(program_.Run({"tasks", "output", "shell-1"}).out, "listening\n") << "from its blob";
  const Ran shown = program_.Run({"tasks", "show", "shell-1"});
  EXPECT_NE(shown.out.find("shell-1  killed"), std::string::npos) << shown.out;
  const Ran again = program_.Run({"tasks", "stop", "shell-1"});
  EXPECT_NE(again.err.find("does not run any more: killed"), std::string::npos) << again.err;
  // The same without a host.
  ASSERT_EQ(program_.Run({"host", "stop"}).exit_code, 0);
  Row("killed");
  EXPECT_EQ(program_.Run({"tasks", "output", "shell-1"}).out, "listening\n");
  const Ran late = program_.Run({"tasks", "stop", "shell-1"});
  EXPECT_NE(late.err.find("does not run any more: killed"), std::string::npos) << late.err;
}

TEST_F(TasksTest, ATaskOfAnotherProcessIsReadFromItsFolderAndNotStopped) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo listening for open-sesame; sleep 1000","background":true}}}]},
    {"blocks":[{"call":{"name":"Bash","args":{"command":"cat gate"}}}]},
    {"times":0,"blocks":[{"text":"It runs."}]}]})");
  ASSERT_EQ(program_.Run({"vault", "set", "word"}, "open-sesame\n").exit_code, 0);
  const std::string masked = "listening for [vault:word]\n";
  ASSERT_EQ(::mkfifo((program_.work() + "/gate").c_str(), 0600), 0);
  Result<Subprocess> other =
      Subprocess::Start(program_.Options({"-p", "--permission-mode", "bypass", "serve"}));
  ASSERT_TRUE(other) << other.error().Text();
  EXPECT_EQ(Row("running")["heldBy"].IntOr(0), other->pid());
  const auto output = [&] { return program_.Run({"tasks", "output", "shell-1"}).out; };
  for (int tries = 0; tries < 1000 && output().empty(); ++tries) ::poll(nullptr, 0, 10);
  EXPECT_EQ(output(), masked);
  const Ran refused = program_.Run({"tasks", "stop", "shell-1"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find(std::to_string(other->pid())), std::string::npos) << refused.err;
  Row("running");

  ASSERT_EQ(::kill(other->pid(), SIGKILL), 0);
  pollfd end{.fd = other->pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&end, 1, 30'000), 1);
  ASSERT_TRUE(other->Reap());
  const std::int64_t lost_at = Row("lost")["endedAt"].IntOr(0);
  EXPECT_GT(lost_at, 0) << "the log does not say so yet, and it does not go on running";
  EXPECT_LE(lost_at, SystemClock().Now());
  EXPECT_EQ(output(), masked) << "its file is still there";
  ASSERT_EQ(program_.Run({"-p", "-c", "--permission-mode", "bypass", "what happened"}).exit_code,
            0);
  EXPECT_LE(Row("lost")["endedAt"].IntOr(0), lost_at) << "opening it does not make it longer";
  EXPECT_EQ(output(), masked);
  const std::string asked = emulator_->Requests().back().body.text;
  EXPECT_NE(asked.find("shell-1 was lost when stet was stopped"), std::string::npos) << asked;
}

TEST_F(TasksTest, ASessionWithoutTasksSaysSo) {
  ASSERT_EQ(program_.Run({"-p", "list *.md"}).exit_code, 0);
  const Ran none = program_.Run({"tasks", "ls"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_NE(none.err.find("Nothing has run"), std::string::npos) << none.err;
  EXPECT_EQ(program_.Run({"tasks", "ls", "--json"}).out, "[]\n");
  EXPECT_NE(program_.Run({"tasks", "show", "shell-1"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"tasks"}).exit_code, 2);
}

TEST_F(TasksTest, AllThatATaskWroteCanBeReadPartByPart) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"head -c 2500000 /dev/zero | tr '\\0' x; echo END","background":true}}}]},
    {"times":0,"blocks":[{"text":"It runs."}]}]})");
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  ASSERT_EQ(program_.Run({"-p", "--host", "--permission-mode", "bypass", "write"}).exit_code, 0);
  Row("completed");
  const Ran end = program_.Run({"tasks", "output", "shell-1"});
  EXPECT_EQ(end.out.size(), 1U << 20);
  EXPECT_NE(end.err.find("1451428 bytes before this are left out"), std::string::npos) << end.err;
  const Ran all = program_.Run({"tasks", "output", "shell-1", "--all"});
  EXPECT_TRUE(all.out == std::string(2'500'000, 'x') + "END\n") << all.out.size();
  EXPECT_EQ(all.err, "");
  const Ran part =
      program_.Run({"tasks", "output", "shell-1", "--offset", "2499999", "--limit", "3"});
  EXPECT_EQ(part.out, "xEN");
  EXPECT_NE(part.err.find("2 bytes behind this are left out; --offset 2500002 goes on there"),
            std::string::npos)
      << part.err;
  const Ran begin = program_.Run({"tasks", "output", "shell-1", "--all", "--limit", "1500000"});
  EXPECT_TRUE(begin.out == std::string(1'500'000, 'x')) << begin.out.size();
}

TEST_F(TasksTest, AWrongVerbIsNamedWithThoseThatThereAre) {
  const Ran tasks = program_.Run({"tasks", "bogus"});
  EXPECT_EQ(tasks.exit_code, 2);
  EXPECT_NE(tasks.err.find("`stet tasks` has no verb bogus: write ls, show, stop, output"),
            std::string::npos)
      << tasks.err;
  const Ran extensions = program_.Run({"extensions", "bogus"});
  EXPECT_EQ(extensions.exit_code, 2);
  EXPECT_NE(extensions.err.find("`stet extensions` has no verb bogus: write ls"),
            std::string::npos);
  const Ran tokens = program_.Run({"host", "token", "bogus"});
  EXPECT_EQ(tokens.exit_code, 2);
  EXPECT_NE(tokens.err.find("`stet host token` has no verb bogus: write add, ls, rm"),
            std::string::npos);
  EXPECT_EQ(program_.Run({"models", "bogus"}).exit_code, 2);
}

TEST_F(TasksTest, WhatTurnsTextAroundIsNotPrinted) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(
      "{\"replies\":[{\"blocks\":[{\"call\":{\"name\":\"Bash\",\"args\":{\"command\":\"true # "
      "\u202Efdp.exe\",\"background\":true}}}]},{\"times\":0,\"blocks\":[{\"text\":\"Done.\"}]}]}");
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  ASSERT_EQ(program_.Run({"-p", "--host", "--permission-mode", "bypass", "run"}).exit_code, 0);
  Row("completed");
  for (const std::vector<std::string>& list :
       {std::vector<std::string>{"tasks", "ls"},
        std::vector<std::string>{"tasks", "show", "shell-1"}})
    EXPECT_EQ(program_.Run(list).out.find("\u202E"), std::string::npos);
}

TEST_F(TasksTest, AtATerminalTheyAreListedReadAndStopped) {
  more_settings_ = "[tools]\ntaskEndStartsTurn=false\n";
  Script(kServes);
  const auto pty = Ready({"--permission-mode", "bypass"});
  pty->Type("/tasks\r");
  EXPECT_TRUE(pty->Shows("nothing has run in the background"));
  pty->Type("serve\r");
  EXPECT_TRUE(pty->Shows("It runs."));
  pty->Type("/tasks\r");
  EXPECT_TRUE(pty->Shows("/tasks stop ID stops one"));
  pty->Type("/tasks output shell-1\r");
  EXPECT_TRUE(pty->Shows("listening"));
  pty->Type("/tasks stop shell-1\r");
  EXPECT_TRUE(pty->Shows("shell-1 is being stopped"));
  Row("killed");
  pty->Type("/tasks sing\r");
  EXPECT_TRUE(pty->Shows("write /tasks"));
  Quit(*pty);
}

}  // namespace
}  // namespace stet::scenario
