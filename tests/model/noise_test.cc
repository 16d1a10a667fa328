// A host that is told nonsense: by strangers, who learn nothing, and by clients that are known.
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/utf8.h"
#include "tests/model/live_fixture.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

/// Messages that are nearly right.
constexpr std::string_view kMessages[] = {
    R"({"type":"hello","version":1,"clientId":"c","name":"n","program":"p"})",
    R"({"type":"request","requestId":"1","method":"session.state","params":{"sessionId":"SES"}})",
    R"({"type":"request","requestId":"2","method":"session.subscribe","params":{"sessionId":"SES","anchor":{"epoch":1,"seq":3,"persistentSeq":2,"persistentId":"x"}}})",
    R"({"type":"request","requestId":"3","method":"session.send","params":{"sessionId":"SES","how":"send","text":"hi","images":[{"mediaType":"image/png","data":"AAAA"}]}})",
    R"({"type":"request","requestId":"4","method":"sessions.open","params":{"cwd":"/tmp","mode":"plan"}})",
    R"({"type":"request","requestId":"5","method":"session.rewriteQueue","params":{"sessionId":"SES","queue":"steer","items":[]}})",
    R"({"type":"request","requestId":"6","method":"session.answer","params":{"sessionId":"SES","requestId":"r","allow":true}})",
    R"({"type":"request","requestId":"7","method":"projects.browse","params":{"path":"/../.."}})",
    R"({"type":"request","requestId":"8","method":"session.rewind","params":{"sessionId":"SES","target":"e"}})",
    R"({"type":"request","requestId":"9","method":"sessions.list","params":{"limit":-5}})",
    R"({"type":"ping","requestId":"1"})",
    R"({"type":"request","requestId":"10","method":"session.mark","params":{"sessionId":"SES","what":"pin","text":"x"}})",
};

std::string Mutated(std::string text, Random& random) {
  const std::size_t changes = random.Below(5);
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.Below(text.size());
    switch (random.Below(5)) {
      case 0: text[at] = static_cast<char>(random.Below(256)); break;
      case 1: text.erase(at, 1 + random.Below(10)); break;
      case 2: text.insert(at, text.substr(random.Below(text.size()), random.Below(20))); break;
      case 3: text.insert(at, std::string(random.Below(2000), "[{\"0"[random.Below(4)])); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

class NoiseTest : public LiveTest {
 protected:
  void SetUp() override {
    Script(R"({"replies":[{"times":0,"blocks":[{"text":"Said."}]}]})");
    host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
    live_ = host_->Client();
    Open(Here());
    Run("the secret word is xyzzy");
  }

  std::string Nonsense(Random& random) const {
    std::string text(kMessages[random.Below(std::size(kMessages))]);
    if (const std::size_t at = text.find("SES"); at != std::string::npos)
      text.replace(at, 3, session_id_);
    return Mutated(std::move(text), random);
  }
};

TEST_F(NoiseTest, NothingThatAClientSaysEndsTheHost) {
  Random random(5);
  const Deadline deadline = Deadline::After(std::chrono::seconds(TestScale().noise_seconds));
  std::size_t said = 0;
  rpc::Endpoint socket;
  socket.unix_path = host_->socket();
  while (!deadline.Passed()) {
    WireClient client(socket);
    client.Hello();
    ASSERT_TRUE(client.AwaitType("welcome"));
    std::string frame;
    for (std::size_t i = 0; i < 50; ++i, ++said) {
      frame += Nonsense(random) + "\n";
      if (random.Below(3) == 0) client.Say(ReplaceInvalidUtf8(std::exchange(frame, "")));
    }
    client.Say(ReplaceInvalidUtf8(frame));
  }
  EXPECT_GT(said, 100U);
  EXPECT_EQ(Run("still there?").text, "Said.");
}

TEST_F(NoiseTest, AStrangerLearnsNothingWhateverItSays) {
  Random random(6);
  const Deadline deadline = Deadline::After(std::chrono::seconds(TestScale().noise_seconds));
  rpc::Endpoint network;
  network.host = "127.0.0.1";
  network.port = host_->port();
  while (!deadline.Passed()) {
    WireClient stranger(network);
    std::string frame;
    for (std::size_t i = 0; i < 10; ++i) frame += Nonsense(random) + "\n";
    stranger.Say(ReplaceInvalidUtf8(frame));
    stranger.AwaitClosed();
    for (const std::string& message : stranger.Heard()) {
      EXPECT_EQ(JsonView(message)["type"].StringOr(""), "bye");
      EXPECT_EQ(message.find("xyzzy"), std::string::npos);
      EXPECT_EQ(message.find(session_id_), std::string::npos);
    }
  }
}

/// The answer to bytes that are sent as they are.
std::string Exchange(const std::string& address, const std::string& bytes) {
  const std::uint16_t port =
      static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  EXPECT_TRUE(WriteAll(fd.get(), bytes));
  std::string answer;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(fd.get(), buffer, sizeof buffer)) > 0) {
    answer.append(buffer, static_cast<std::size_t>(got));
    if (answer.find("\r\n\r\n") != std::string::npos) break;
  }
  return answer;
}

std::string Upgrade(const std::string& host, const std::string& origin) {
  std::string request =
      "GET /ws HTTP/1.1\r\nHost: " + host +
      "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  if (!origin.empty()) request += "Origin: " + origin + "\r\n";
  return request + "\r\n";
}

TEST_F(NoiseTest, PagesOfOthersAndNamesOfOthersAreRefused) {
  const std::string own = host_->address();
  EXPECT_TRUE(Exchange(own, Upgrade(own, "")).starts_with("HTTP/1.1 101"));
  EXPECT_TRUE(Exchange(own, Upgrade(own, "http://" + own)).starts_with("HTTP/1.1 101"));
  for (const char* origin : {"https://evil.example", "http://127.0.0.1:1", "null", "file://"})
    EXPECT_TRUE(Exchange(own, Upgrade(own, origin)).starts_with("HTTP/1.1 403")) << origin;
  for (const char* name : {"evil.example", "evil.example:7777", "127.0.0.1.evil.example", "[::2]"})
    EXPECT_TRUE(Exchange(own, Upgrade(name, "")).starts_with("HTTP/1.1 403")) << name;
  const std::string list = "GET /sessions HTTP/1.1\r\nHost: " + own + "\r\n";
  EXPECT_TRUE(Exchange(own, list + "\r\n").starts_with("HTTP/1.1 401"));
  EXPECT_TRUE(
      Exchange(own, list + "Authorization: Bearer wrong\r\n\r\n").starts_with("HTTP/1.1 401"));
  EXPECT_TRUE(Exchange(own, "GET /sessions?token=stet_test HTTP/1.1\r\nHost: " + own + "\r\n\r\n")
                  .starts_with("HTTP/1.1 401"))
      << "a token in an address counts for nothing";
  EXPECT_TRUE(
      Exchange(own, list + "Authorization: Bearer stet_test\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(Exchange(own, "GET /metrics HTTP/1.1\r\nHost: " + own + "\r\n\r\n")
                  .starts_with("HTTP/1.1 403"));
}

}  // namespace
}  // namespace stet::test
