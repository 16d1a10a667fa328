// A client that never reads: other clients do not notice, it costs no more than its cap, and the
// host sends it away.
#include <chrono>
#include <memory>
#include <optional>

#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "tests/model/live_fixture.h"
#include "tests/scale.h"

namespace stet::test {
namespace {

// A sanitizer keeps what was freed: memory says nothing then.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STET_SANITIZED
#endif
#endif
#if defined(STET_SANITIZED) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// Says what it has to say, and takes nothing.
class DeafClient {
 public:
  DeafClient(const std::string& path, const std::string& session_id)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    Write(
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    char answer[4096];
    EXPECT_GT(::read(fd_.get(), answer, sizeof answer), 0);
    Say(R"({"type":"hello","version":1,"clientId":"deaf"})");
    Say(R"({"type":"request","requestId":"1","method":"session.subscribe","params":{"sessionId":")" +
        session_id + "\"}}");
  }

  void Ask(const std::string& method, const std::string& params) const {
    Say(R"({"type":"request","requestId":"2","method":")" + method + R"(","params":)" + params +
        "}");
  }

 private:
  void Write(const std::string& bytes) const { EXPECT_TRUE(WriteAll(fd_.get(), bytes)); }
  /// One text message, masked with nothing.
  void Say(const std::string& text) const {
    std::string frame = "\x81";
    if (text.size() < 126) {
      frame += static_cast<char>(0x80 | text.size());
    } else {
      frame += static_cast<char>(0x80 | 126);
      frame += static_cast<char>(text.size() >> 8);
      frame += static_cast<char>(text.size() & 0xff);
    }
    Write(frame + std::string(4, '\0') + text);
  }

  Fd fd_;
};

/// More than any client may owe.
constexpr std::size_t kLetters = kSanitized ? 200'000 : 1'000'000;

class StuckTest : public LiveTest {
 protected:
  void StartHost() {
    live_.reset();
    host_.reset();
    host_ = std::make_unique<RunningHost>(
        host::HostOptions{.roots = roots_,
                          .sleep_after = std::chrono::milliseconds(500),
                          .patience = std::chrono::milliseconds(1500)});
    live_ = host_->Client();
  }

  /// A new session of a new model, whose replies are long.
  void Begin() {
    session_.reset();
    heard_ = std::make_unique<Heard>();
    Script(R"({"replies":[{"times":0,"delta":4000,"blocks":[{"text":")" +
           std::string(kLetters, 'x') + R"("}]}]})");
    Open(Here());
  }

  /// Until only the client that reads is connected.
  void AwaitTheEndOfTheDeaf() {
    for (int tries = 0; tries < 6000 && host_->Describe().clients > 1; ++tries) ::usleep(10'000);
    EXPECT_EQ(host_->Describe().clients, 1) << "only the one that reads";
  }
};

TEST_F(StuckTest, AClientThatNeverReadsCostsOthersNothingAndIsSentAway) {
  StartHost();
  const Deadline end = Deadline::After(std::chrono::seconds(TestScale().stuck_seconds));
  std::optional<std::uint64_t>
      before;  // After the first round: what the test itself takes is in it.
  for (int round = 0; round < 2 || !end.Passed(); ++round) {
    Begin();
    const DeafClient deaf(host_->socket(), session_id_);
    for (int turn = 0; turn < 8; ++turn) EXPECT_EQ(Run("go").text.size(), kLetters);
    const std::uint64_t now = host_->Describe().memory_bytes;
    if (!kSanitized) {
      ASSERT_LT(now, before.value_or(now) + (std::uint64_t{32} << 20)) << round;
    }
    before = before.value_or(now);
    AwaitTheEndOfTheDeaf();
    EXPECT_EQ(Run("still here").text.size(), kLetters);
  }
}

TEST_F(StuckTest, AClientThatAsksAndNeverReadsIsAnsweredNoMoreThanItsCap) {
  StartHost();
  Begin();
  EXPECT_EQ(Run("go").text.size(), kLetters);
  const std::uint64_t before = host_->Describe().memory_bytes;
  const DeafClient deaf(host_->socket(), session_id_);
  // Each answer has all the letters.
  for (int asked = 0; asked < 200; ++asked)
    deaf.Ask("session.recent", R"({"sessionId":")" + session_id_ + R"(","count":100})");
  EXPECT_EQ(Run("still here").text.size(), kLetters);
  if (!kSanitized) {
    EXPECT_LT(host_->Describe().memory_bytes, before + (std::uint64_t{96} << 20));
  }
}

}  // namespace
}  // namespace stet::test
