// `stet host` and `stet attach`: one host in the background, started, asked, killed, stopped.
#include <csignal>

#include "base/clock.h"
#include "client/await.h"
#include "client/remote/live.h"
#include "json/view.h"
#include "rpc/certificate.h"
#include "tests/http_asked.h"
#include "tests/scenario/interactive_fixture.h"

namespace stet::scenario {
namespace {

class HostTest : public InteractiveTest {
 protected:
  JsonView Status() {
    status_ = program_.Run({"host", "status", "--json"}).out;
    return JsonView(status_);
  }
  std::int64_t Pid() { return Status()["status"]["pid"].IntOr(0); }

  std::string status_;
};

TEST_F(HostTest, IsStartedOnceAndStopped) {
  EXPECT_EQ(Status()["state"].StringOr(""), "stopped");
  EXPECT_EQ(program_.Run({"host", "status"}).exit_code, 1);
  EXPECT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  const std::int64_t pid = Pid();
  EXPECT_GT(pid, 0);
  EXPECT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  EXPECT_EQ(Pid(), pid) << "it was there already";
  const Ran second = program_.Run({"host", "serve"});
  EXPECT_NE(second.exit_code, 0);
  EXPECT_NE(second.err.find(std::to_string(pid)), std::string::npos) << second.err;
  EXPECT_EQ(program_.Run({"host", "reset"}).exit_code, 1) << "not while it runs";
  EXPECT_EQ(program_.Run({"host", "stop"}).exit_code, 0);
  EXPECT_EQ(Status()["state"].StringOr(""), "stopped");
  EXPECT_NE(program_.Run({"host", "logs"}).out.find("host stopped"), std::string::npos);
  EXPECT_EQ(program_.Run({"host", "reset"}).exit_code, 0);
}

TEST_F(HostTest, OneThatWasKilledIsAnOrphanAndTheNextOneStarts) {
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  const std::int64_t pid = Pid();
  ASSERT_EQ(::kill(static_cast<pid_t>(pid), SIGKILL), 0);
  for (int tries = 0; tries < 500 && Status()["state"].StringOr("") == "running"; ++tries)
    ::usleep(10'000);
  EXPECT_EQ(Status()["state"].StringOr(""), "orphan");
  EXPECT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  EXPECT_NE(Pid(), pid);
}

TEST_F(HostTest, TheStateIsForTheUserAlone) {
  ASSERT_EQ(program_.Run({"host", "start", "--listen", "127.0.0.1:0"}).exit_code, 0);
  EXPECT_EQ(StatFile(program_.home() + "/host.json")->mode, 0600U);
  EXPECT_TRUE(Status()["status"]["address"].StringOr("").starts_with("127.0.0.1:"));
}

TEST_F(HostTest, ListeningElsewhereTakesAFlag) {
  const Ran bare = program_.Run({"host", "start", "--listen", "0.0.0.0:0"});
  EXPECT_NE(bare.exit_code, 0);
  EXPECT_NE(bare.err.find("--expose"), std::string::npos) << bare.err;
  const Ran wrong = program_.Run({"host", "start", "--listen", "nowhere"});
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_NE(wrong.err.find("no address"), std::string::npos) << wrong.err;
  const Ran half = program_.Run({"host", "start", "--certificate", "a.pem"});
  EXPECT_NE(half.exit_code, 0);
  EXPECT_NE(half.err.find("go together"), std::string::npos) << half.err;
}

TEST_F(HostTest, WithTlsItIsKnownByItsFingerprint) {
  const rpc::TlsFiles files{program_.home() + "/x.crt", program_.home() + "/x.key"};
  ASSERT_TRUE(MakeDirs(program_.home()));
  const auto fingerprint = rpc::GenerateCertificate(files, {}, SystemClock().Now());
  ASSERT_TRUE(fingerprint) << fingerprint.error().Text();
  const Ran started = program_.Run({"host", "start", "--listen", "127.0.0.1:0", "--certificate",
                                    files.certificate, "--key", files.key});
  EXPECT_EQ(started.exit_code, 0) << started.err;
  EXPECT_NE(started.out.find(*fingerprint), std::string::npos) << started.out;
  const std::string address = Status()["status"]["address"].StringOr("");
  const std::string state = ReadFile(program_.home() + "/host.json").value_or("");
  client::RemoteOptions options;
  options.endpoint.host = "127.0.0.1";
  options.endpoint.port =
      static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  options.endpoint.tls = true;
  options.endpoint.fingerprint = *fingerprint;
  options.token = JsonView(state)["token"].StringOr("");
  options.patience = std::chrono::seconds(20);
  EXPECT_TRUE(client::Await(*client::MakeRemoteLive(options), &client::RemoteLive::Welcome));
  options.endpoint.fingerprint = std::string(64, '0');
  options.patience = std::chrono::seconds(2);
  EXPECT_FALSE(client::Await(*client::MakeRemoteLive(options), &client::RemoteLive::Welcome));
}

TEST_F(HostTest, WorksInTheBackgroundForAScript) {
  const Ran first = program_.Run({"-p", "--host", "list *.md"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("README.md"), std::string::npos) << first.out;
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  const Ran on = program_.Run({"-p", "-c", "list *.md"});
  EXPECT_EQ(on.exit_code, 0) << on.err;
  EXPECT_EQ(Status()["status"]["sessions"].IntOr(0), 1) << "it went on in the host";
  const Ran fresh = program_.Run({"-p", "list *.md"});
  EXPECT_EQ(fresh.exit_code, 0);
  EXPECT_EQ(Status()["status"]["sessions"].IntOr(0), 1) << "a new one needs no host";
}

TEST_F(HostTest, AScriptBehindAnotherClientsTurnWaitsForItsOwn) {
  Script(R"({"replies":[
    {"blocks":[{"text":"A slow reply of many parts, one after the other, until its end."}],
     "delta":2,"pauseMs":30},
    {"times":0,"blocks":[{"text":"The second reply."}]}]})");
  const auto one = Ready();
  one->Type("first\r");
  EXPECT_TRUE(one->Shows("A slow"));
  const Ran second = program_.Run({"-p", "--host", "-c", "second"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, "The second reply.\n");
  Quit(*one);
}

TEST_F(HostTest, OneThatAClientStartedStaysWhenTheUserWantsIt) {
  const auto one = Ready();
  const std::int64_t pid = Pid();
  ASSERT_GT(pid, 0);
  EXPECT_EQ(Status()["status"]["launched"].StringOr(""), "client");
  const Ran elsewhere = program_.Run({"host", "start", "--listen", "127.0.0.1:0"});
  EXPECT_NE(elsewhere.exit_code, 0) << "it does not listen there";
  EXPECT_NE(elsewhere.err.find("stet host stop"), std::string::npos) << elsewhere.err;
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  EXPECT_EQ(Status()["status"]["launched"].StringOr(""), "user");
  Quit(*one);
  EXPECT_EQ(Pid(), pid);
}

TEST_F(HostTest, WhatChangesASessionGoesThroughTheHost) {
  ASSERT_EQ(program_.Run({"host", "start"}).exit_code, 0);
  ASSERT_EQ(program_.Run({"-p", "--host", "list *.md"}).exit_code, 0);
  const std::string list = program_.Run({"sessions", "ls", "--json"}).out;
  std::string id;
  JsonView(list).ForEach([&](const JsonView& row) { id = row["sessionId"].StringOr(""); });
  ASSERT_FALSE(id.empty()) << list;
  const Ran rewound = program_.Run({"sessions", "rewind", id, "--to-start"});
  EXPECT_EQ(rewound.exit_code, 0) << rewound.err;
  EXPECT_EQ(program_.Run({"sessions", "rm", id, "--yes"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"sessions", "restore", id}).exit_code, 0);
}

TEST_F(HostTest, TwoTerminalsShareASession) {
  const auto one = Ready();
  one->Type("list *.md\r");
  EXPECT_TRUE(one->Shows("✓ Glob *.md"));
  const auto two = Start({"attach"});
  EXPECT_TRUE(two->Shows("✓ Glob *.md"));
  two->Type("list *.txt\r");
  EXPECT_TRUE(one->Shows("Glob *.txt"));
  EXPECT_TRUE(two->Shows("Glob *.txt"));
  Quit(*two);
  Quit(*one);
}

TEST_F(HostTest, NoneIsStartedForASessionThatThereIsNot) {
  EXPECT_EQ(program_.Run({"attach", "nosuch"}).exit_code, 1);
  EXPECT_FALSE(Exists(program_.home() + "/host.json"));
}

TEST_F(HostTest, LeavesWhenWhoeverStartedItNeverComes) {
  SpawnOptions options = program_.Options({"host", "serve", "--launched", "client"});
  const Result<Finished> ended =
      Subprocess::Run(std::move(options), Deadline::After(std::chrono::seconds(40)), {});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->end, Finished::End::kExited);
  EXPECT_EQ(ended->exit_code, 0);
}

TEST_F(HostTest, LeavesWithTheLastClientThatItWasStartedFor) {
  {
    const auto pty = Ready();
    EXPECT_EQ(Status()["status"]["launched"].StringOr(""), "client");
    Quit(*pty);
  }
  for (int tries = 0; tries < 500 && Status()["state"].StringOr("") == "running"; ++tries)
    ::usleep(10'000);
  EXPECT_EQ(Status()["state"].StringOr(""), "stopped");
}

TEST_F(HostTest, TokensAreShownOnceAndTakenBack) {
  const Ran made = program_.Run({"host", "token", "add", "phone", "--rights", "view,approve"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_TRUE(made.out.starts_with("stet_"));
  EXPECT_EQ(ReadFile(program_.home() + "/tokens.json")->find(made.out.substr(0, 20)),
            std::string::npos)
      << "it is kept hashed";
  EXPECT_NE(program_.Run({"host", "token", "add", "phone"}).exit_code, 0);
  for (const char* name : {"host", "a@b", "a b", "", "model"}) {
    const Ran refused = program_.Run({"host", "token", "add", name});
    EXPECT_EQ(refused.exit_code, 1) << name;
    EXPECT_NE(refused.err.find("cannot name a token"), std::string::npos) << refused.err;
  }
  EXPECT_NE(program_.Run({"host", "token", "add", "x", "--rights", "all"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"host", "token", "ls"}).out, "phone  view,approve\n");
  EXPECT_EQ(program_.Run({"host", "token", "rm", "phone"}).exit_code, 0);
  EXPECT_NE(program_.Run({"host", "token", "rm", "phone"}).exit_code, 0);
}

TEST_F(HostTest, ItsDeviceIsAskedOverHttpByTheRightsOfAToken) {
  ASSERT_TRUE(MakeDirs(program_.home()));
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                          "[models.m.headers]\nx-key = 'only-for-the-server'\n[models.m]\n"
                          "type='custom'\nid='m'\napi='anthropic-messages'\n"
                          "baseUrl='http://127.0.0.1:9'\n[[hooks.Stop]]\ncommand='true'\n",
                          Durable::kNo));
  ASSERT_EQ(program_.Run({"vault", "set", "ACME_KEY"}, "only-for-the-vault").exit_code, 0);
  ASSERT_EQ(program_.Run({"host", "start", "--listen", "127.0.0.1:0"}).exit_code, 0);
  const std::string address = Status()["status"]["address"].StringOr("");
  const auto token = [&](const std::string& name, const std::string& rights) {
    std::string made = program_.Run({"host", "token", "add", name, "--rights", rights}).out;
    return made.substr(0, made.find('\n'));
  };
  test::HttpAsked asked;
  asked.port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  std::string said;
  const auto get = [&](const std::string& path) {
    asked.path = path;
    const test::HttpAnswer answer = test::ReadHttp(test::AskHttp(asked));
    said += answer.body;
    return answer.status;
  };
  const std::string here = "?cwd=" + program_.work();
  asked.token = token("screen", "view");
  for (const char* path : {"/models", "/doctor"}) EXPECT_EQ(get(path), 200) << path;
  for (const char* path : {"/config", "/vault"}) EXPECT_EQ(get(path), 403) << path;
  for (const char* path : {"/hooks", "/extensions", "/trust"}) EXPECT_EQ(get(path + here), 403);
  asked.token = token("laptop", "view,send,approve,admin");
  for (const char* path : {"/hooks", "/extensions", "/trust"}) EXPECT_EQ(get(path + here), 200);
  for (const char* path : {"/config", "/vault"}) EXPECT_EQ(get(path), 200) << path;
  EXPECT_EQ(get("/hooks"), 400) << "it is of no folder";
  EXPECT_NE(said.find("ACME_KEY"), std::string::npos);
  EXPECT_NE(said.find("models.m.headers.x-key"), std::string::npos) << said;
  EXPECT_EQ(said.find("only-for-the"), std::string::npos) << said;
}

TEST_F(HostTest, TheDoctorAsksTheHostInItsOwnEnvironment) {
  const Ran none = program_.Run({"doctor", "--host"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("stet host start"), std::string::npos) << none.err;
  EXPECT_FALSE(Exists(program_.home() + "/host.json")) << "none is started for this";
  ASSERT_TRUE(MakeDirs(program_.home()));
  ASSERT_TRUE(ReplaceFile(program_.home() + "/config.toml",
                          "[model]\nprovider = 'openai'\nid = 'gpt-5'\n", Durable::kNo));
  SpawnOptions start = program_.Options({"host", "start"});
  start.env->push_back("OPENAI_API_KEY=sk");
  ASSERT_EQ(Subprocess::Run(std::move(start), Deadline::After(std::chrono::seconds(60)), {})
                .value()
                .exit_code,
            0);
  EXPECT_EQ(program_.Run({"doctor"}).exit_code, 1) << "there is no key here";
  const Ran asked = program_.Run({"doctor", "--host"});
  EXPECT_EQ(asked.exit_code, 0) << asked.out << asked.err;
  EXPECT_NE(asked.out.find("openai/gpt-5"), std::string::npos) << asked.out;
  EXPECT_EQ(asked.out.find("terminal"), std::string::npos) << "a host has none";
}

TEST_F(HostTest, TheUnitRunsThisProgram) {
  const Ran unit = program_.Run({"host", "install", "--print"});
  EXPECT_EQ(unit.exit_code, 0);
  EXPECT_NE(unit.out.find("ExecStart="), std::string::npos);
  EXPECT_NE(unit.out.find(" host serve"), std::string::npos);
}

}  // namespace
}  // namespace stet::scenario
