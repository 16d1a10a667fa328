// What a client does for a session: its editor's files and terminals, for a host in this process
// and for one behind a socket.
#include <atomic>
#include <map>

#include "client/await.h"
#include "protocol/client_methods.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

namespace method = protocol::method;

/// An editor with texts that are not saved, which answers as it is told to.
class FakeServices final : public client::Services {
 public:
  explicit FakeServices(protocol::Texts offers) : offers_(std::move(offers)) {}

  [[nodiscard]] const protocol::Texts& offers() const override { return offers_; }
  void Ask(const std::string& method, const Raw& params, Done done) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(method);
    changed_.notify_all();
    if (const auto fixed = answers_.find(method); fixed != answers_.end()) {
      if (fixed->second) done(*fixed->second);  // Else it never answers.
      return;
    }
    const JsonView asked(params.text);
    const std::string path = asked["path"].StringOr("");
    if (method == method::FileWrite::kInfo.name) {
      texts_[path] = asked["text"].StringOr("");
      return done(Raw{"{}"});
    }
    if (method != method::FileRead::kInfo.name || !texts_.contains(path))
      return done(Fail(Code::kIo, "no such thing"));
    protocol::FileText text;
    text.text = texts_[path];
    done(Raw{Encode(text)});
  }

  void Put(const std::string& path, std::string text) {
    const std::lock_guard lock(mutex_);
    texts_[path] = std::move(text);
  }
  std::string Get(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return texts_[path];
  }
  /// What it says to that from now on; nothing: it never answers.
  void Say(std::string_view method, std::optional<Result<Raw>> answer) {
    const std::lock_guard lock(mutex_);
    answers_.insert_or_assign(std::string(method), std::move(answer));
  }
  bool AwaitAsked(std::string_view method) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return Count(method) > 0; });
  }
  std::size_t Asked(std::string_view method) {
    const std::lock_guard lock(mutex_);
    return Count(method);
  }

 private:
  std::size_t Count(std::string_view method) const {
    return static_cast<std::size_t>(std::ranges::count(asked_, method));
  }

  const protocol::Texts offers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::optional<Result<Raw>>> answers_;
  std::vector<std::string> asked_;
};

enum class Where { kHere, kSocket };

class ServicesTest : public LiveTest, public testing::WithParamInterface<Where> {
 protected:
  ServicesTest() {
    live_.reset();
    host_.reset();
    if (GetParam() == Where::kSocket) {
      host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
      live_ = host_->Client();
    } else {
      live_ = host::MakeLocalLive(roots_, "test");
    }
  }

  void OpenWith(const protocol::Attach& attach, std::shared_ptr<client::Services> services) {
    auto opened = client::Await(*live_, &client::Live::Attach, attach,
                                client::FaceSide{heard_->Watcher(), std::move(services)});
    ASSERT_TRUE(opened) << opened.error().Text();
    session_ = *std::move(opened);
    session_id_ = State().session_id;
  }
  std::string ResultText(std::size_t number) {
    const auto results = heard_->All<protocol::ToolResult>();
    if (results.size() <= number) return "(none)";
    return protocol::PlainText(
        Decode<protocol::Blocks>(results[number].content.text).value_or(protocol::Blocks()));
  }
  std::string OnDisk() { return ReadFile(project_ + "/a.txt").value_or("(none)"); }

  std::shared_ptr<FakeServices> editor_ =
      std::make_shared<FakeServices>(protocol::Texts{"read", "write"});
};

constexpr std::string_view kReadAndEdit = R"({"replies":[
  {"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}}]},
  {"when":{"hasToolResult":true},"blocks":[{"call":{"name":"Edit","args":{"file_path":"a.txt","old_string":"typed","new_string":"edited"}}}]},
  {"when":{"hasToolResult":true},"times":0,"blocks":[{"text":"Done."}]}]})";
constexpr std::string_view kRead = R"({"replies":[
  {"when":{"hasToolResult":true},"times":0,"blocks":[{"text":"Done."}]},
  {"times":0,"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}}]}]})";
constexpr std::string_view kRun = R"({"replies":[
  {"blocks":[{"call":{"name":"Bash","args":{"command":"make it"}}}]},
  {"when":{"hasToolResult":true},"times":0,"blocks":[{"text":"Done."}]}]})";

TEST_P(ServicesTest, WhatIsNotSavedIsReadAndTheClientWritesTheChange) {
  editor_->Put(project_ + "/a.txt", "typed\n");
  Script(kReadAndEdit);
  OpenWith(Here(), editor_);
  EXPECT_EQ(Run("go").text, "Done.");
  EXPECT_EQ(ResultText(0), "     1\ttyped\n");
  EXPECT_EQ(editor_->Get(project_ + "/a.txt"), "edited\n");
  EXPECT_EQ(OnDisk(), "one\n") << "the client did not save it";
  const auto facts = heard_->All<protocol::FileFact>();
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[1].before, facts[0].after);
}

TEST_P(ServicesTest, AClientThatRefusesToWriteIsToldToTheModelAndTheNextChangeMayTryAgain) {
  editor_->Put(project_ + "/a.txt", "typed\n");
  editor_->Say(method::FileWrite::kInfo.name, Fail(Code::kIo, "it is locked"));
  Script(R"({"replies":[
    {"blocks":[{"call":{"name":"Read","args":{"file_path":"a.txt"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"call":{"name":"Edit","args":{"file_path":"a.txt","old_string":"typed","new_string":"edited"}}}]},
    {"when":{"hasToolResult":true},"blocks":[{"call":{"name":"Write","args":{"file_path":"b.txt","content":"b"}}}]},
    {"when":{"hasToolResult":true},"times":0,"blocks":[{"text":"Done."}]}]})");
  OpenWith(Here(), editor_);
  EXPECT_EQ(Run("go").text, "Done.");
  EXPECT_NE(ResultText(1).find("did not write"), std::string::npos) << ResultText(1);
  EXPECT_NE(ResultText(1).find("it is locked"), std::string::npos) << ResultText(1);
  EXPECT_NE(ResultText(2).find("it is locked"), std::string::npos) << ResultText(2);
  EXPECT_EQ(OnDisk(), "one\n");
  EXPECT_FALSE(Exists(project_ + "/b.txt"));
}

TEST_P(ServicesTest, AnswersThatMakeNoSenseCountAsNone) {
  Script(kRead);
  OpenWith(Here(), editor_);
  std::size_t number = 0;
  for (const char* answer : {R"({"text":7})", "{}", R"({"text":"a\u0000b"})"}) {
    editor_->Say(method::FileRead::kInfo.name, Raw{answer});
    Run("read");
    EXPECT_EQ(ResultText(number++), "     1\tone\n") << answer;
  }
  EXPECT_EQ(editor_->Asked(method::FileRead::kInfo.name), 3U);
}

TEST_P(ServicesTest, ACancelDoesNotWaitForAClientThatSaysNothing) {
  editor_->Say(method::FileRead::kInfo.name, std::nullopt);
  Script(kRead);
  OpenWith(Here(), editor_);
  const auto turn = Send("read");
  ASSERT_TRUE(editor_->AwaitAsked(method::FileRead::kInfo.name));
  session_->Cancel();
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "cancelled");
}

TEST_P(ServicesTest, WithoutTheClientTheDiskCountsAgain) {
  editor_->Put(project_ + "/a.txt", "typed\n");
  Script(kRead);
  OpenWith(Here(), editor_);
  Run("read");
  EXPECT_EQ(ResultText(0), "     1\ttyped\n");
  session_.reset();
  protocol::Attach again = Here();
  again.session_id = session_id_;
  OpenWith(again, nullptr);
  Run("read");
  EXPECT_EQ(ResultText(1), "     1\tone\n");
}

TEST_P(ServicesTest, ACommandRunsInTheClientsTerminal) {
  editor_ = std::make_shared<FakeServices>(protocol::Texts{"terminal"});
  editor_->Say(method::TerminalOpen::kInfo.name, Raw{R"({"terminalId":"t7"})"});
  editor_->Say(method::TerminalAwait::kInfo.name, Raw{R"({"exitCode":2,"signal":null})"});
  editor_->Say(method::TerminalText::kInfo.name, Raw{R"({"text":"made\n","truncated":false})"});
  editor_->Say(method::TerminalRelease::kInfo.name, Raw{"{}"});
  Script(kRun);
  OpenWith(Here(), editor_);
  EXPECT_EQ(Run("go").text, "Done.");
  EXPECT_EQ(ResultText(0), "made\nExit code 2\n");
  const auto shown = heard_->AwaitTransient<protocol::ToolExecutionUpdate>(
      [](const auto& update) { return update.terminal_id.has_value(); });
  EXPECT_EQ(shown->terminal_id, "t7");
  EXPECT_EQ(editor_->Asked(method::TerminalRelease::kInfo.name), 1U);
}

TEST_P(ServicesTest, ACancelKillsWhatRunsInTheTerminal) {
  editor_ = std::make_shared<FakeServices>(protocol::Texts{"terminal"});
  editor_->Say(method::TerminalOpen::kInfo.name, Raw{R"({"terminalId":"t7"})"});
  editor_->Say(method::TerminalAwait::kInfo.name, std::nullopt);
  editor_->Say(method::TerminalKill::kInfo.name, Fail(Code::kIo, "it will not die"));
  editor_->Say(method::TerminalText::kInfo.name, Raw{R"({"text":"so far\n","truncated":false})"});
  Script(kRun);
  OpenWith(Here(), editor_);
  const auto turn = Send("go");
  ASSERT_TRUE(editor_->AwaitAsked(method::TerminalAwait::kInfo.name));
  session_->Cancel();
  EXPECT_EQ(EndOf(*turn.turn_id).reason, "cancelled");
  EXPECT_EQ(editor_->Asked(method::TerminalKill::kInfo.name), 1U);
  EXPECT_TRUE(editor_->AwaitAsked(method::TerminalRelease::kInfo.name));
}

INSTANTIATE_TEST_SUITE_P(Hosts, ServicesTest, testing::Values(Where::kHere, Where::kSocket),
                         [](const auto& where) {
                           return where.param == Where::kHere ? "Here" : "Socket";
                         });

/// What only several clients of one host can do.
class OfferTest : public ServicesTest {};

TEST_P(OfferTest, AnotherClientChangesNothingAndTheDiskCountsWhenTheOneThatOffersLeaves) {
  editor_->Put(project_ + "/a.txt", "typed\n");
  Script(kRead);
  OpenWith(Here(), editor_);
  const std::unique_ptr<client::RemoteLive> other = host_->Client();
  protocol::Attach again = Here();
  again.session_id = session_id_;
  Heard heard;
  auto joined =
      client::Await(*other, &client::Live::Attach, again, client::FaceSide{heard.Watcher()});
  ASSERT_TRUE(joined) << joined.error().Text();
  Run("read");
  EXPECT_EQ(ResultText(0), "     1\ttyped\n");
  // It goes while it is asked.
  editor_->Say(method::FileRead::kInfo.name, std::nullopt);
  protocol::Send send;
  send.how = "send";
  send.text = "read";
  const auto accepted = client::Await(**joined, &client::LiveSession::Send, send);
  ASSERT_TRUE(accepted) << accepted.error().Text();
  ASSERT_TRUE(editor_->AwaitAsked(method::FileRead::kInfo.name));
  session_.reset();
  live_.reset();
  const auto ended = heard.AwaitTransient<protocol::RuntimeEnd>(
      [&](const protocol::RuntimeEnd& end) { return end.turn_id == accepted->turn_id; });
  ASSERT_TRUE(ended);
  const auto results = heard.All<protocol::ToolResult>();
  ASSERT_FALSE(results.empty());
  EXPECT_NE(results.back().content.text.find("\\tone"), std::string::npos)
      << results.back().content.text;
}

TEST_P(OfferTest, OnlyAClientOnTheUnixSocketOffersAnything) {
  Script(kRead);
  OpenWith(Here(), nullptr);
  const std::string params = protocol::ForSession(session_id_, R"({"offers":["read"]})");
  rpc::Endpoint tcp;
  tcp.host = "127.0.0.1";
  tcp.port = host_->port();
  WireClient far(tcp);
  far.Hello(RunningHost::kToken);
  EXPECT_NE(far.Ask("session.offer", params).find("\"denied\""), std::string::npos);
  rpc::Endpoint unix_socket;
  unix_socket.unix_path = host_->socket();
  WireClient near(unix_socket);
  near.Hello();
  EXPECT_NE(near.Ask("session.offer", params).find("\"result\""), std::string::npos);
  const auto turn = Send("read");
  const auto asked = near.AwaitType("request");
  ASSERT_TRUE(asked);
  const JsonView request(*asked);
  EXPECT_EQ(request["method"].StringOr(""), method::FileRead::kInfo.name);
  EXPECT_EQ(request["params"]["sessionId"].StringOr(""), session_id_);
  // An answer to nothing is passed over.
  near.Say(R"({"type":"reply","requestId":"h99","result":{}})");
  near.Say(R"({"type":"reply","requestId":")" + request["requestId"].StringOr("") +
           R"(","result":{"text":"by hand\n"}})");
  EndOf(*turn.turn_id);
  EXPECT_EQ(ResultText(0), "     1\tby hand\n");
}

INSTANTIATE_TEST_SUITE_P(Hosts, OfferTest, testing::Values(Where::kSocket),
                         [](const auto&) { return "Socket"; });

}  // namespace
}  // namespace stet::test
