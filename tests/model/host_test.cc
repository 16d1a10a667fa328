// One host, several clients: what they hear, what they may do, and what becomes of a session that
// no client works on, or that another process works on.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "client/await.h"
#include "device/projects.h"
#include "host/access_tokens.h"
#include "log/blobs.h"
#include "log/paths.h"
#include "protocol/ask.h"
#include "protocol/methods.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

constexpr std::string_view kTalks = R"({"replies":[{"times":0,"blocks":[{"text":"Said."}]}]})";

class HostTest : public LiveTest {
 protected:
  void Host(host::HostOptions options = {}) {
    options.roots = roots_;
    host_ = std::make_unique<RunningHost>(std::move(options));
    live_ = host_->Client();
  }

  std::string NewSession() {
    Open(Here());
    return session_id_;
  }

  /// The lines of the session's log.
  std::vector<std::string> Stored() const {
    std::vector<std::string> lines;
    const std::string log =
        ReadFile(store::SessionStore(roots_).Find(session_id_).value() + "/events.jsonl")
            .value_or("");
    std::size_t at = log.find('\n') + 1;
    while (at < log.size()) {
      const std::size_t end = log.find('\n', at);
      lines.push_back(log.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  rpc::Endpoint Socket() const {
    rpc::Endpoint endpoint;
    endpoint.unix_path = host_->socket();
    return endpoint;
  }
  rpc::Endpoint Network() const {
    rpc::Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = host_->port();
    return endpoint;
  }
};

/// The stored lines that a client was pushed.
std::vector<std::string> EventsIn(const std::vector<std::string>& heard) {
  std::vector<std::string> lines;
  for (const std::string& message : heard) {
    const JsonView json(message);
    if (json["type"].StringOr("") == "event") lines.emplace_back(json["event"].text());
  }
  return lines;
}

std::string ErrorIn(const std::string& reply) {
  return JsonView(reply)["error"]["code"].StringOr("");
}

TEST_F(HostTest, EverybodyHearsTheSameLines) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  WireClient one(Socket());
  WireClient two(Socket());
  for (WireClient* client : {&one, &two}) {
    client->Hello();
    EXPECT_EQ(
        JsonView(client->Ask("session.subscribe", protocol::ForSession(id, "{}")))["result"]["mode"]
            .StringOr(""),
        "full_reload");
  }
  Run("hello");
  EXPECT_EQ(Run("again").text, "Said.");
  const std::string last = Stored().back();
  for (WireClient* client : {&one, &two}) {
    ASSERT_TRUE(client->Await([&](const JsonView& json) { return json["event"].text() == last; }));
    EXPECT_EQ(EventsIn(client->Heard()), Stored());
  }
}

TEST_F(HostTest, ASendIsStampedWithWhoSentIt) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  WireClient client(Socket());
  client.Hello();
  const std::string params = R"({"how":"send","text":"hi","clientMessageId":"m1"})";
  EXPECT_EQ(JsonView(client.Ask("session.send", protocol::ForSession(id, params)))["result"]["what"]
                .StringOr(""),
            "started");
  EXPECT_EQ(JsonView(client.Ask("session.send", protocol::ForSession(id, params)))["result"]["what"]
                .StringOr(""),
            "known");
  const auto message = heard_->Await<protocol::UserMessage>();
  ASSERT_TRUE(message);
  for (const protocol::Event& event : heard_->Events()) {
    if (!std::holds_alternative<protocol::UserMessage>(event.payload)) continue;
    EXPECT_EQ(event.stamp.client_id, "test");
  }
  EXPECT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>());
}

TEST_F(HostTest, ACancelOfAnotherTurnThanTheOneThatRunsDoesNothing) {
  Script(R"({"replies":[{"blocks":[{"text":"It never ends."}],"delta":1,
             "fault":{"kind":"stall","afterEvents":6}}]})");
  Host();
  const std::string id = NewSession();
  const protocol::Accepted turn = Send("go");
  ASSERT_TRUE(heard_->AwaitTransient<protocol::TextDelta>());
  WireClient client(Socket());
  client.Hello();
  const auto cancel = [&](const std::string& turn_id) {
    return client.Ask("session.cancel",
                      fmt::format(R"({{"sessionId":"{}","turnId":"{}"}})", id, turn_id));
  };
  EXPECT_EQ(ErrorIn(cancel("t_before")), "");
  EXPECT_EQ(State().turn_id, turn.turn_id) << "it goes on";
  EXPECT_EQ(ErrorIn(cancel(*turn.turn_id)), "");
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "cancelled");
}

TEST_F(HostTest, AnAnchorGetsTheModeThatFitsIt) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  Run("hello");
  const std::string last = Stored().back();
  const JsonView line(last);
  WireClient client(Socket());
  client.Hello();
  const std::string all = client.Ask("session.subscribe", protocol::ForSession(id, "{}"));
  const std::int64_t epoch = JsonView(all)["result"]["epoch"].IntOr(0);
  const std::int64_t seq = JsonView(all)["result"]["seq"].IntOr(0);
  const auto mode = [&](std::int64_t at_epoch, std::int64_t at_seq, const std::string& event_id) {
    const std::string params = fmt::format(
        R"({{"anchor":{{"epoch":{},"seq":{},"persistentSeq":{},"persistentId":"{}"}}}})", at_epoch,
        at_seq, line["seq"].IntOr(0), event_id);
    return JsonView(
               client.Ask("session.subscribe", protocol::ForSession(id, params)))["result"]["mode"]
        .StringOr("");
  };
  const std::string event = line["id"].StringOr("");
  EXPECT_EQ(mode(epoch, seq, event), "stream_resume");
  EXPECT_EQ(mode(epoch + 1, seq, event), "persistent_fallback");
  EXPECT_EQ(mode(epoch, seq + 5, event), "persistent_fallback") << "it cannot have seen that";
  EXPECT_EQ(mode(epoch, seq, "e_other"), "full_reload");
  EXPECT_EQ(JsonView(client.Ask("session.subscribe",
                                protocol::ForSession(id, R"({"recent":2})")))["result"]["mode"]
                .StringOr(""),
            "recent");
}

TEST_F(HostTest, ALateJoinerSeesTheTextSoFar) {
  Script(
      R"({"replies":[{"blocks":[{"text":"This is said slowly, word by word, so that one can join."}],
    "delta":4,"pauseMs":20}]})");
  Host();
  const std::string id = NewSession();
  const auto turn = Send("hello");
  ASSERT_TRUE(heard_->AwaitTransient<protocol::TextDelta>());
  WireClient late(Socket());
  late.Hello();
  late.Ask("session.subscribe", protocol::ForSession(id, R"({"recent":1})"));
  const std::optional<std::string> live = late.AwaitType("live");
  ASSERT_TRUE(live);
  std::string text;
  JsonView(*live)["partial"].ForEach([&](const JsonView& message) {
    message["blocks"].ForEach([&](const JsonView& block) { text += block["text"].StringOr(""); });
  });
  EXPECT_FALSE(text.empty());
  EndOf(*turn.turn_id);
  ASSERT_TRUE(late.Await([](const JsonView& json) {
    return json["event"]["message"]["role"].StringOr("") == "assistant" ||
           json["event"]["role"].StringOr("") == "assistant";
  }));
  for (const std::string& message : late.Heard())
    text += JsonView(message)["transient"]["transient"]["delta"].StringOr("");
  EXPECT_EQ(text, "This is said slowly, word by word, so that one can join.");
}

TEST_F(HostTest, NothingIsSaidToWhoHasNoToken) {
  Script(kTalks);
  Host();
  NewSession();
  for (const char* token : {"", "wrong", "stet_tes"}) {
    WireClient stranger(Network());
    stranger.Hello(token);
    const std::optional<std::string> bye = stranger.AwaitType("bye");
    ASSERT_TRUE(bye);
    EXPECT_EQ(ErrorIn(*bye), "auth");
    EXPECT_TRUE(stranger.AwaitClosed());
    EXPECT_EQ(stranger.Heard().size(), 1U);
  }
  WireClient rude(Network());
  rude.Say(R"({"type":"request","requestId":"1","method":"sessions.list"})");
  const std::optional<std::string> bye = rude.AwaitType("bye");
  ASSERT_TRUE(bye);
  EXPECT_EQ(rude.Heard().size(), 1U);
  WireClient large(Network());
  large.Say(R"({"type":"hello","version":1,"token":")" + std::string(100'000, 'x') + "\"}");
  EXPECT_TRUE(large.AwaitClosed()) << "nothing large is taken of a stranger";
  EXPECT_EQ(large.Heard().size(), 0U);
  WireClient known(Network());
  known.Hello(RunningHost::kToken);
  EXPECT_TRUE(known.AwaitType("welcome"));
  known.Say(R"({"type":"ping","requestId":")" + std::string(100'000, 'x') + "\"}");
  EXPECT_TRUE(known.AwaitType("pong")) << "once it is known it may say more";
}

TEST_F(HostTest, AClientMayOnlyWhatItsTokenSays) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  const auto token = host::Tokens(roots_).Add("viewer", {"view"});
  ASSERT_TRUE(token) << token.error().Text();
  WireClient viewer(Network());
  viewer.Hello(*token);
  ASSERT_TRUE(viewer.AwaitType("welcome"));
  EXPECT_EQ(ErrorIn(viewer.Ask("session.state", protocol::ForSession(id, "{}"))), "");
  const std::string send = protocol::ForSession(id, R"({"how":"send","text":"hi"})");
  EXPECT_EQ(ErrorIn(viewer.Ask("session.send", send)), "denied");
  EXPECT_EQ(ErrorIn(viewer.Ask("session.answer", protocol::ForSession(id, "{}"))), "denied");
  EXPECT_EQ(ErrorIn(viewer.Ask("host.stop")), "denied");
  EXPECT_EQ(ErrorIn(viewer.Ask("projects.browse")), "denied");
  EXPECT_EQ(ErrorIn(viewer.Ask("no.such")), "unsupported");
  WireClient silent(Network());
  silent.Hello(*token);
  ASSERT_TRUE(silent.AwaitType("welcome"));
  ASSERT_TRUE(host::Tokens(roots_).Revoke("viewer"));
  for (WireClient* connected : {&viewer, &silent}) {
    const std::optional<std::string> sent_away = connected->AwaitType("bye");
    ASSERT_TRUE(sent_away) << "a client that says nothing is sent away, too";
    EXPECT_EQ(ErrorIn(*sent_away), "auth");
  }
  WireClient gone(Network());
  gone.Hello(*token);
  const std::optional<std::string> bye = gone.AwaitType("bye");
  ASSERT_TRUE(bye);
  EXPECT_EQ(ErrorIn(*bye), "auth");
}

TEST_F(HostTest, AClientThatMayOnlySendCannotLoosenASession) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  const auto token = host::Tokens(roots_).Add("sender", {"view", "send"});
  ASSERT_TRUE(token) << token.error().Text();
  WireClient sender(Network());
  sender.Hello(*token);
  ASSERT_TRUE(sender.AwaitType("welcome"));
  const auto open = [&](const std::string& more) {
    return ErrorIn(sender.Ask("sessions.open", fmt::format(R"({{"sessionId":"{}"{}}})", id, more)));
  };
  EXPECT_EQ(open(""), "");
  EXPECT_EQ(open(R"(,"mode":"bypass")"), "denied");
  EXPECT_EQ(open(R"(,"disallowed":"")"), "");
  EXPECT_EQ(open(R"(,"disallowed":"Read")"), "denied") << "it would replace those that there are";
  EXPECT_EQ(open(R"(,"tools":["Bash"])"), "denied");
  EXPECT_EQ(open(R"(,"addDirs":["/"])"), "denied");
  const auto make = [&](const std::string& cwd) {
    return ErrorIn(sender.Ask("sessions.open", fmt::format(R"({{"cwd":"{}"}})", cwd)));
  };
  EXPECT_EQ(make("/"), "denied");
  EXPECT_EQ(make("project"), "invalid");
  ASSERT_TRUE(device::Projects(roots_).Register(project_));
  EXPECT_EQ(make(project_), "");
}

TEST_F(HostTest, WithoutTheRightAdminNoTokenReachesFoldersBeyondTheProjects) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  const auto token = host::Tokens(roots_).Add("phone", {"view", "send", "approve"});
  ASSERT_TRUE(token) << token.error().Text();
  WireClient phone(Network());
  phone.Hello(*token);
  ASSERT_TRUE(phone.AwaitType("welcome"));
  const auto open = [&](const std::string& params) {
    return ErrorIn(phone.Ask("sessions.open", params));
  };
  EXPECT_EQ(open(fmt::format(R"({{"cwd":"{}"}})", project_)), "denied");
  EXPECT_EQ(open(fmt::format(R"({{"sessionId":"{}","cwd":"/"}})", id)), "denied");
  ASSERT_TRUE(device::Projects(roots_).Register(project_));
  EXPECT_EQ(open(fmt::format(R"({{"cwd":"{}","addDirs":["/"]}})", project_)), "denied");
  EXPECT_EQ(open(fmt::format(R"({{"cwd":"{}"}})", project_)), "");
}

TEST_F(HostTest, EveryMethodRefusesAnIdThatIsNone) {
  Script(kTalks);
  Host();
  WireClient client(Socket());
  client.Hello("", "tester");
  ASSERT_TRUE(client.AwaitType("welcome"));
  protocol::ForEachHostMethod([&]<class M>() {
    if constexpr (requires(typename M::Params params) { params.session_id; }) {
      for (const std::string_view bad : {"..", "../../etc", "ses_a/../..", "/etc/passwd", "a b"}) {
        const std::string error = ErrorIn(
            client.Ask(std::string(M::kInfo.name), protocol::ForSession(std::string(bad), "{}")));
        EXPECT_TRUE(error == "invalid" || error == "not_found")
            << M::kInfo.name << " " << bad << ": " << error;
      }
    }
  });
}

TEST_F(HostTest, ACopyByAClientThatMayOnlySendHasNothingThatLoosens) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  session_.reset();
  WireClient approver(Socket());
  approver.Hello("", "approver");
  ASSERT_EQ(ErrorIn(approver.Ask("sessions.open",
                                 fmt::format(R"({{"sessionId":"{}","allowed":"Bash","disallowed":)"
                                             R"("Write","addDirs":["/"]}})",
                                             id))),
            "");
  const auto token = host::Tokens(roots_).Add("sender", {"view", "send"});
  ASSERT_TRUE(token) << token.error().Text();
  WireClient sender(Network());
  sender.Hello(*token);
  const auto rules = [&](const std::string& opened) {
    const std::string copy = JsonView(opened)["result"]["sessionId"].StringOr("");
    EXPECT_NE(copy, "") << opened;
    return sender.Ask("session.permissions", fmt::format(R"({{"sessionId":"{}"}})", copy));
  };
  const std::string forked =
      rules(sender.Ask("sessions.open", fmt::format(R"({{"sessionId":"{}","fork":true}})", id)));
  EXPECT_FALSE(forked.contains(R"("verdict":"allow")")) << forked;
  EXPECT_TRUE(forked.contains(R"("verdict":"deny","rule":"Write")")) << forked;
}

TEST_F(HostTest, AnIdOfAMessageStandsForOneMessageOfOneClient) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  const auto send = [&](WireClient& client, const std::string& text) {
    return ErrorIn(client.Ask("session.send", fmt::format(R"({{"sessionId":"{}","clientMessageId":)"
                                                          R"("m1","how":"send","text":"{}"}})",
                                                          id, text)));
  };
  WireClient alice(Socket());
  alice.Hello("", "alice");
  WireClient bob(Socket());
  bob.Hello("", "bob");
  EXPECT_EQ(send(alice, "A"), "");
  EXPECT_EQ(send(alice, "A"), "") << "known";
  EXPECT_EQ(send(alice, "B"), "conflict");
  EXPECT_EQ(send(bob, "A"), "conflict");
}

TEST_F(HostTest, AnOpeningThatMakesNoSenseIsRefused) {
  Script(kTalks);
  Host();
  WireClient client(Socket());
  client.Hello();
  for (const std::string& bad : {std::string("{}"), std::string(R"({"cwd":"/no/such/folder"})"),
                                 fmt::format(R"({{"cwd":"{}","effort":"nonsense"}})", project_),
                                 fmt::format(R"({{"cwd":"{}","maxSteps":-1}})", project_)})
    EXPECT_EQ(ErrorIn(client.Ask("sessions.open", bad)), "invalid") << bad;
}

TEST_F(HostTest, OptionsOfAClientCountForNoOtherAndEndWithIt) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  session_.reset();
  const auto mode = [&](WireClient& client) {
    const std::string state =
        client.Ask("session.state", fmt::format(R"({{"sessionId":"{}"}})", id));
    return JsonView(state)["result"]["mode"].StringOr("");
  };
  const auto open = [&](WireClient& client, const std::string& more) {
    return ErrorIn(client.Ask("sessions.open", fmt::format(R"({{"sessionId":"{}"{}}})", id, more)));
  };
  WireClient stays(Socket());
  stays.Hello("", "stays");
  ASSERT_EQ(open(stays, ""), "");
  {
    WireClient loose(Socket());
    loose.Hello("", "loose");
    EXPECT_EQ(open(loose, R"(,"mode":"bypass")"), "conflict");
    EXPECT_EQ(open(loose, R"(,"allowed":"Bash")"), "conflict");
    EXPECT_EQ(open(loose, ""), "");
  }
  EXPECT_EQ(mode(stays), "default");
  stays.Ask("session.unsubscribe", fmt::format(R"({{"sessionId":"{}"}})", id));
  WireClient alone(Socket());
  alone.Hello("", "alone");
  ASSERT_EQ(open(alone, R"(,"mode":"bypass","allowed":"Bash")"), "");
  EXPECT_EQ(mode(alone), "bypass");
  alone.Ask("session.unsubscribe", fmt::format(R"({{"sessionId":"{}"}})", id));
  stays.Ask("session.send", fmt::format(R"({{"sessionId":"{}","how":"send","text":"hi"}})", id));
  EXPECT_EQ(mode(stays), "default") << "the one that wanted bypass has left";
}

TEST_F(HostTest, AnOpeningThatIsRefusedLeavesNoSession) {
  Script(kTalks);
  Host();
  WireClient client(Socket());
  client.Hello();
  ASSERT_TRUE(client.AwaitType("welcome"));
  for (const char* bad : {R"("mode":"bogus")", R"("tools":["Rea"])", R"("allowed":"Bash(")"}) {
    const std::string params = fmt::format(R"({{"cwd":"{}",{}}})", project_, bad);
    EXPECT_EQ(ErrorIn(client.Ask("sessions.open", params)), "invalid") << bad;
  }
  EXPECT_TRUE(store::SessionStore(roots_).List(true)->empty());
}

/// Of every message and of every answer, who it was by.
struct By {
  std::vector<std::string> sent;
  std::vector<std::string> approved;
};
By ByIn(const std::vector<protocol::Event>& events) {
  By by;
  for (const protocol::Event& event : events) {
    if (std::holds_alternative<protocol::UserMessage>(event.payload))
      by.sent.push_back(event.stamp.client_id);
    const auto* permission = std::get_if<protocol::Permission>(&event.payload);
    if (permission != nullptr && permission->phase == "answered")
      by.approved.push_back(permission->by.value_or(""));
  }
  return by;
}

constexpr std::string_view kWritesTwice = R"({"replies":[
  {"blocks":[{"call":{"name":"Write","args":{"file_path":"a.txt","content":"a"}}}]},
  {"blocks":[{"call":{"name":"Write","args":{"file_path":"b.txt","content":"b"}}}]},
  {"times":0,"blocks":[{"text":"Done."}]}]})";

TEST_F(HostTest, TheLogSaysWhichOfTwoTerminalsSentAndWhichApproved) {
  Script(kWritesTwice);
  Host();
  Open(Here("default", true));
  const std::unique_ptr<client::RemoteLive> other = host_->Client();
  const auto second = client::Await(
      *other, &client::RemoteLive::Watch,
      client::Watched{.session_id = session_id_,
                      .recent = 1,
                      .watcher = [](const protocol::Event*, const protocol::Transient*) {}});
  ASSERT_TRUE(second) << second.error().Text();
  const auto turn = Send("go");
  const auto asked = heard_->Await<protocol::Permission>();
  ASSERT_TRUE(asked);
  EXPECT_TRUE(client::Await(**second, &client::LiveSession::Answer,
                            protocol::Allow(asked->request_id, "session")));
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "completed");
  protocol::Send more;
  more.how = "send";
  more.text = "and more";
  const Result<protocol::Accepted> accepted =
      client::Await(**second, &client::LiveSession::Send, more);
  ASSERT_TRUE(accepted) << accepted.error().Text();
  ASSERT_TRUE(heard_->AwaitTransient<protocol::RuntimeEnd>(
      [&](const auto& end) { return end.turn_id == *accepted->turn_id; }));
  const By by = ByIn(heard_->Events());
  ASSERT_EQ(by.sent.size(), 2U);
  ASSERT_EQ(by.approved.size(), 1U);
  EXPECT_NE(by.sent[0], by.sent[1]);
  EXPECT_EQ(by.approved[0], by.sent[1]);
  EXPECT_TRUE(by.sent[0].starts_with("stet-")) << by.sent[0];
  EXPECT_TRUE(client::Await(**second, &client::LiveSession::Close));
}

TEST_F(HostTest, NoClientIsTakenForAnotherWhateverItSaysOfItself) {
  Script(kWritesTwice);
  Host();
  Open(Here("default", true));
  const auto token = host::Tokens(roots_).Add("phone", {"view", "send", "approve"});
  ASSERT_TRUE(token) << token.error().Text();
  WireClient phone(Network());
  phone.Hello(*token);
  const std::optional<std::string> welcome = phone.AwaitType("welcome");
  ASSERT_TRUE(welcome);
  EXPECT_EQ(JsonView(*welcome)["clientId"].StringOr(""), "test@phone");
  const auto turn = Send("go");
  const auto asked = heard_->Await<protocol::Permission>();
  ASSERT_TRUE(asked);
  const std::string answer = fmt::format(
      R"({{"requestId":"{}","allow":true,"scope":"session","by":"somebody"}})", asked->request_id);
  EXPECT_EQ(ErrorIn(phone.Ask("session.answer", protocol::ForSession(session_id_, answer))), "");
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "completed");
  EXPECT_EQ(ByIn(heard_->Events()).approved, std::vector<std::string>{"test@phone"});
}

TEST_F(HostTest, ABlobIsReadByItsName) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  log::Blobs blobs(log::Paths{store::SessionStore(roots_).Find(id).value()}.blobs());
  const auto small = blobs.Put(std::string("a\0b", 3));
  const auto large = blobs.Put(std::string(std::size_t{8} << 20, 'x'));
  ASSERT_TRUE(small && large);
  WireClient client(Socket());
  client.Hello();
  const auto ask = [&](const std::string& name) {
    return client.Ask("session.blob",
                      protocol::ForSession(id, fmt::format(R"({{"name":"{}"}})", name)));
  };
  EXPECT_EQ(JsonView(ask(*small))["result"]["base64"].StringOr(""), "YQBi");
  EXPECT_EQ(ErrorIn(ask(*large)), "full");
  EXPECT_EQ(ErrorIn(ask(std::string(64, '0'))), "not_found");
  EXPECT_EQ(ErrorIn(ask("../events.jsonl")), "invalid");
  EXPECT_EQ(ErrorIn(client.Ask("session.blob", R"({"sessionId":"../x","name":"y"})")), "invalid");
}

TEST_F(HostTest, ASessionThatRestsIsPutToSleepAndWakesUnnoticed) {
  Script(kTalks);
  Host({.sleep_after = std::chrono::milliseconds(100)});
  const std::string id = NewSession();
  EXPECT_EQ(Run("hello").text, "Said.");
  WireClient client(Socket());
  client.Hello();
  client.Ask("session.subscribe", protocol::ForSession(id, "{}"));
  const auto asleep = [&] { return host_->Describe().sessions == 0; };
  for (int tries = 0; tries < 3000 && !asleep(); ++tries) ::usleep(10'000);
  ASSERT_TRUE(asleep());
  EXPECT_EQ(JsonView(client.Ask("session.state", protocol::ForSession(id, "{}")))["result"]["state"]
                .StringOr(""),
            "idle");
  EXPECT_EQ(host_->Describe().sessions, 0) << "looking does not wake it";
  EXPECT_EQ(Run("again").text, "Said.");
  const std::string last = Stored().back();
  ASSERT_TRUE(client.Await([&](const JsonView& json) { return json["event"].text() == last; }));
  EXPECT_EQ(EventsIn(client.Heard()), Stored());
}

TEST_F(HostTest, ASessionThatAnotherProcessHoldsIsFollowedAndTakenOverWhenItIsFree) {
  Script(kTalks);
  Host();
  const std::unique_ptr<client::Live> other = host::MakeLocalLive(roots_, "test");
  Heard inside;
  auto held =
      client::Await(*other, &client::Live::Attach, Here(), client::FaceSide{inside.Watcher()});
  ASSERT_TRUE(held) << held.error().Text();
  session_id_ = client::Await(**held, &client::LiveSession::State)->session_id;
  WireClient client(Socket());
  client.Hello();
  client.Ask("session.subscribe", protocol::ForSession(session_id_, "{}"));
  const std::string send = protocol::ForSession(session_id_, R"({"how":"send","text":"mine"})");
  const std::string refused = client.Ask("session.send", send);
  EXPECT_EQ(ErrorIn(refused), "busy");
  EXPECT_EQ(JsonView(refused)["error"]["pid"].IntOr(0), ::getpid());
  protocol::Send theirs;
  theirs.how = "send";
  theirs.text = "theirs";
  ASSERT_TRUE(client::Await(**held, &client::LiveSession::Send, theirs));
  ASSERT_TRUE(inside.AwaitTransient<protocol::RuntimeEnd>());
  ASSERT_TRUE(client::Await(**held, &client::LiveSession::Close));
  held->reset();
  EXPECT_EQ(ErrorIn(client.Ask("session.send", send)), "");
  ASSERT_TRUE(client.Await([](const JsonView& json) {
    return json["transient"]["transient"]["type"].StringOr("") == "runtime_end";
  }));
  const std::string last = Stored().back();
  ASSERT_TRUE(client.Await([&](const JsonView& json) { return json["event"].text() == last; }));
  EXPECT_EQ(EventsIn(client.Heard()), Stored());
}

TEST_F(HostTest, CommandsGetTheEnvironmentOfTheClientThatSent) {
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Bash","args":{"command":"echo is:$STET_HANDED"}}}]},
    {"times":0,"blocks":[{"text":"Done."}]}]})");
  Host();
  live_ = host_->Client(std::vector<std::string>{"PATH=/usr/bin:/bin", "STET_HANDED=over"});
  NewSession();
  Run("go");
  const auto results = heard_->All<protocol::ToolResult>();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_NE(results[0].content.text.find("is:over"), std::string::npos);
  WireClient remote(Network());
  remote.Hello(RunningHost::kToken);
  EXPECT_EQ(
      ErrorIn(remote.Ask(
          "session.send",
          protocol::ForSession(session_id_, R"({"how":"send","text":"x","environment":["A=B"]})"))),
      "denied");
}

TEST_F(HostTest, PathsOutsideOfHomeAndProjectsAreNotBrowsed) {
  Host();
  WireClient client(Socket());
  client.Hello();
  const std::string magic = "/proc/self/";  // A link to the top of everything.
  for (const std::string& path :
       {std::string("/etc"), std::string("/../etc"), std::string("etc"), magic + "root" + "/etc"})
    EXPECT_NE(ErrorIn(client.Ask("projects.browse", fmt::format(R"({{"path":"{}"}})", path))), "")
        << path;
  const std::string params = fmt::format(R"({{"path":"{}"}})", project_);
  EXPECT_EQ(ErrorIn(client.Ask("projects.browse", params)), "denied");
  const std::string made = client.Ask("projects.register", params);
  EXPECT_EQ(JsonView(client.Ask("projects.register", params))["result"].text(),
            JsonView(made)["result"].text());
  EXPECT_EQ(ErrorIn(client.Ask("projects.browse", params)), "");
  EXPECT_NE(ErrorIn(client.Ask("projects.browse", fmt::format(R"({{"path":"{}/.."}})", project_))),
            "");
  const std::string id = JsonView(made)["result"]["projectId"].StringOr("");
  const std::string named = fmt::format(R"({{"projectId":"{}"}})", id);
  EXPECT_EQ(ErrorIn(client.Ask("projects.remove", named)), "");
  EXPECT_EQ(ErrorIn(client.Ask("projects.remove", named)), "not_found");
}

TEST_F(HostTest, ASessionThatIsDeletedIsInTheTrash) {
  Script(kTalks);
  Host();
  const std::string id = NewSession();
  Run("hello");
  session_.reset();
  WireClient client(Socket());
  client.Hello();
  // Busy until the host has heard that the face is gone.
  std::string reply;
  do {
    reply = client.Ask("session.delete", protocol::ForSession(id, "{}"));
  } while (ErrorIn(reply) == "busy");
  EXPECT_EQ(ErrorIn(reply), "");
  EXPECT_EQ(ErrorIn(client.Ask("session.state", protocol::ForSession(id, "{}"))), "not_found");
  EXPECT_EQ(client::Await(*host::MakeLocalSessions(roots_), &client::Sessions::Trash)->size(), 1U);
  session_id_.clear();
}

TEST_F(HostTest, ASessionThatAnotherClientHasOpenIsNotDeleted) {
  Script(kTalks);
  Host();
  const std::string of_it = protocol::ForSession(NewSession(), "{}");
  Run("hello");
  WireClient viewer(Socket());
  viewer.Say(R"({"type":"hello","version":1,"clientId":"viewer-1"})");
  ASSERT_TRUE(viewer.AwaitType("welcome"));
  ASSERT_EQ(ErrorIn(viewer.Ask("session.subscribe", of_it)), "");
  EXPECT_EQ(ErrorIn(viewer.Ask("session.delete", of_it)), "busy") << "the face has it open";
  session_.reset();
  WireClient other(Socket());
  other.Hello();
  std::string refused = other.Ask("session.delete", of_it);
  // The host may not have heard yet that the face is gone.
  while (!refused.contains("viewer-1") && ErrorIn(refused) == "busy")
    refused = other.Ask("session.delete", of_it);
  EXPECT_EQ(ErrorIn(refused), "busy");
  EXPECT_NE(refused.find("is open in viewer-1"), std::string::npos) << refused;
  EXPECT_EQ(ErrorIn(viewer.Ask("session.state", of_it)), "") << "it is as it was";
  EXPECT_EQ(ErrorIn(viewer.Ask("session.delete", of_it)), "") << "its own is no hindrance";
  session_id_.clear();
}

}  // namespace
}  // namespace stet::test
