// What stands between us and a model's server: reverse proxies, proxies, redirects.
#include "tests/model/front_fixture.h"
#include "tests/model/proxy_fixture.h"

namespace stet::test {
namespace {

using ReverseProxyTest = FrontTest;

TEST_F(ReverseProxyTest, PlainHttpWorksPackedOrNotOverBothKindsOfAddresses) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->Plain(), {}));
  EXPECT_EQ(ReceivedHeader("x-front-protocol"), "HTTP/1.1");
  ExpectAnswered(Check(front_->Plain("[::1]"), {}));
  EXPECT_EQ(front_->Log(2), "HTTP/1.1 200 [-]\nHTTP/1.1 200 [-]\n");
  ExpectAnswered(Check(front_->Plain() + "/gzip", {}));
  EXPECT_TRUE(front_->Log(3).ends_with("HTTP/1.1 200 [gzip]\n"));
}

TEST_F(ReverseProxyTest, AServerThatIsDownBehindItIsAServerFailure) {
  StartFront(kReady);
  emulator_.reset();
  const Checked checked = Check(front_->Plain(), {});
  EXPECT_EQ(checked.check.failure, "server") << checked.check.message.value_or("");
  EXPECT_EQ(checked.check.attempts, 3);
}

using ProxyTest = FrontTest;

TEST_F(ProxyTest, TlsGoesThroughATunnel) {
  StartFront(kReady);
  const std::string host = front_->Tls().substr(std::string_view("https://").size());
  for (const char* variable : {"HTTPS_PROXY", "https_proxy", "ALL_PROXY"}) {
    const Proxy proxy;
    ExpectAnswered(
        Check(front_->Tls(), {TrustByFile(), fmt::format("{}={}", variable, proxy.Url())}));
    EXPECT_EQ(proxy.Asked(), std::vector{fmt::format("CONNECT {} HTTP/1.1", host)}) << variable;
    EXPECT_EQ(ReceivedHeader("x-front-protocol"), "HTTP/2.0");
  }
}

TEST_F(ProxyTest, PlainHttpIsForwarded) {
  StartEmulator(kReady);
  const Proxy proxy;
  ExpectAnswered(Check(emulator_->base_url(), {"http_proxy=" + proxy.Url()}));
  EXPECT_EQ(proxy.Asked(),
            std::vector{fmt::format("POST {}/v1/messages HTTP/1.1", emulator_->base_url())});
}

TEST_F(ProxyTest, AHostThatNeedsNoProxyIsAskedItself) {
  StartFront(kReady);
  const Proxy proxy;
  const std::string tunnel = "HTTPS_PROXY=" + proxy.Url();
  for (const char* variable : {"NO_PROXY", "no_proxy"})
    ExpectAnswered(Check(
        front_->Tls(), {TrustByFile(), tunnel, fmt::format("{}=example.org,127.0.0.1", variable)}));
  EXPECT_EQ(proxy.Asked().size(), 0U);
  ExpectAnswered(Check(front_->Tls(), {TrustByFile(), tunnel, "NO_PROXY=127.0.0.9"}));
  EXPECT_EQ(proxy.Asked().size(), 1U);
}

TEST_F(ProxyTest, AProxyThatIsNotThereIsANetworkFailure) {
  StartFront(kReady);
  const std::string nobody = fmt::format("HTTPS_PROXY=http://127.0.0.1:{}", FreePort());
  const Checked checked = Check(front_->Tls(), {TrustByFile(), nobody});
  EXPECT_EQ(checked.check.failure, "network");
  EXPECT_EQ(checked.check.attempts, 3);
  EXPECT_TRUE(emulator_->Requests().empty());
}

TEST_F(ProxyTest, AProxyThatClosesOrRefusesIsANetworkFailure) {
  StartFront(kReady);
  const Proxy closing(Proxy::Manner::kClosesAtOnce);
  const Checked closed = Check(front_->Tls(), {TrustByFile(), "HTTPS_PROXY=" + closing.Url()});
  EXPECT_EQ(closed.check.failure, "network") << closed.check.message.value_or("");
  EXPECT_EQ(closing.Asked().size(), 3U);
  const Proxy refusing(Proxy::Manner::kRefuses);
  const Checked refused = Check(front_->Tls(), {TrustByFile(), "HTTPS_PROXY=" + refusing.Url()});
  EXPECT_EQ(refused.check.failure, "network");
  EXPECT_NE(refused.check.message.value_or("").find("403"), std::string::npos)
      << refused.check.message.value_or("");
  EXPECT_TRUE(emulator_->Requests().empty());
}

TEST_F(ProxyTest, AProxyThatDiesInTheReplyLosesNoTextThatWasSeen) {
  StartFront(fmt::format(R"({{"replies":[{{"times":0,"blocks":[{{"text":"begun{}"}}]}}]}})",
                         std::string(50'000, '.')));
  const Proxy proxy(Proxy::Manner::kDiesInTheReply);
  const Checked checked = Check(front_->Tls(), {TrustByFile(), "HTTPS_PROXY=" + proxy.Url()});
  EXPECT_EQ(checked.check.failure, "truncated") << checked.check.message.value_or("");
  EXPECT_EQ(checked.check.attempts, 1) << "what was shown is not shown again";
  EXPECT_TRUE(checked.check.reply.starts_with("begun"));
}

class RedirectTest : public ModelTest, public testing::WithParamInterface<Dialect> {};

TEST_P(RedirectTest, ARedirectIsNotFollowedAndTheKeyGoesNowhereElse) {
  const auto other = emulator::Emulator::Start(R"({"replies":[{"times":0}]})");
  ASSERT_TRUE(other);
  for (const int status : {301, 302, 307, 308}) {
    StartEmulator(fmt::format(
        R"({{"replies":[{{"times":0,"fault":{{"kind":"status","status":{},"headers":{{"location":"{}/v1/messages"}}}}}}]}})",
        status, (*other)->base_url()));
    const provider::CallResult call = AskOnce(GetParam());
    ASSERT_TRUE(call.reply.failure);
    EXPECT_EQ(KindOf(call), "bad_request");
    EXPECT_EQ(
        call.reply.failure->message,
        fmt::format("the server sends us to {}/v1/messages; if that is right, make it the baseUrl",
                    (*other)->base_url()));
    EXPECT_EQ(call.attempts.size(), 1U);
  }
  EXPECT_EQ((*other)->stats().requests, 0);
}

INSTANTIATE_TEST_SUITE_P(Dialects, RedirectTest, testing::ValuesIn(kDialects),
                         [](const auto& tested) { return NameOf(tested.param); });

}  // namespace
}  // namespace stet::test
