#include <sys/stat.h>

#include "base/fs.h"
#include "rpc/certificate.h"
#include "rpc/rpc_fixture.h"

namespace stet::rpc {
namespace {

using std::chrono::milliseconds;

constexpr Millis kNow = 1'800'000'000'000;

class TlsTest : public RpcTest {
 protected:
  void SetUp() override {
    auto made = GenerateCertificate(files_, {}, SystemClock().Now());
    ASSERT_TRUE(made) << made.error().Text();
    fingerprint_ = *made;
  }

  [[nodiscard]] Endpoint Tls(std::string fingerprint) const {
    return {
        .host = "127.0.0.1", .port = port(), .tls = true, .fingerprint = std::move(fingerprint)};
  }

  TlsFiles files_{.certificate = dir_.Sub("cert.pem"), .key = dir_.Sub("key.pem")};
  std::string fingerprint_;
};

TEST_F(TlsTest, TheOneCertificateThatIsTrustedIsAccepted) {
  Listen(Limits(), files_);
  auto client = Call(Tls(fingerprint_));
  ASSERT_TRUE(client->channel);
  client->Start();
  RunUntil([&] { return !talks_.empty(); }, "the server has the channel");
  EXPECT_TRUE(peers_.front().encrypted);
  EXPECT_FALSE(peers_.front().local);
  std::vector<std::string> sent;
  for (int i = 0; i < 1000; ++i) {
    sent.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    client->channel->Send(sent.back());
    talks_.front()->channel->Send(sent.back());
  }
  const std::string large(9 << 20, 'y');
  sent.push_back(large);
  client->channel->Send(large);
  talks_.front()->channel->Send(large);
  RunUntil([&] { return client->frames.size() == 1001; }, "all arrive");
  talks_.front()->channel->Close("bye");
  RunUntil([&] { return client->closed && talks_.front()->closed; }, "the end");
  EXPECT_TRUE(client->frames == sent);
  EXPECT_EQ(*client->closed, Error(Code::kUnavailable, "bye"));
}

TEST_F(TlsTest, CapitalsAndColonsOfAFingerprintDoNotMatter) {
  Listen(Limits(), files_);
  std::string shown;
  for (std::size_t i = 0; i < fingerprint_.size(); ++i) {
    if (i > 0 && i % 2 == 0) shown += ':';
    shown += static_cast<char>(std::toupper(fingerprint_[i]));
  }
  EXPECT_TRUE(TryDial(Tls(shown)));
}

TEST_F(TlsTest, AnotherCertificateIsRefusedBeforeAnythingIsSaid) {
  Listen(Limits(), files_);
  bool asked = false;
  admit_ = [&](const HttpRequest&) {
    asked = true;
    return Status();
  };
  const auto channel = TryDial(Tls(std::string(64, '0')));
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Code::kDenied);
  EXPECT_TRUE(channel.error().message.contains(fingerprint_)) << channel.error().message;
  EXPECT_FALSE(asked);
}

TEST_F(TlsTest, WithoutAFingerprintASelfSignedCertificateIsRefused) {
  Listen(Limits(), files_);
  const auto channel = TryDial(Tls(""));
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Code::kDenied);
  EXPECT_TRUE(talks_.empty());
}

/// With the certificate as the one authority of the system.
class TlsAuthorityTest : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    ::setenv("SSL_CERT_FILE", files_.certificate.c_str(), 1);
    Listen(Limits(), files_);
  }
  void TearDown() override { ::unsetenv("SSL_CERT_FILE"); }
};

TEST_F(TlsAuthorityTest, ACertificateIsForItsNamesAlone) {
  EXPECT_TRUE(TryDial(Tls("")));
  Endpoint endpoint = Tls("");
  endpoint.host = "localhost";
  EXPECT_TRUE(TryDial(endpoint));
  server_.reset();
  address_ = "127.0.0.2";
  Listen(Limits(), files_);
  endpoint.host = address_;
  endpoint.port = port();
  const auto channel = TryDial(endpoint);
  ASSERT_FALSE(channel);
  EXPECT_EQ(channel.error().code, Code::kDenied) << channel.error().Text();
}

TEST_F(TlsTest, PlainAndTlsDoNotUnderstandEachOther) {
  Listen(Limits{.head = milliseconds(200)}, files_);
  Endpoint plain = Tls("");
  plain.tls = false;
  EXPECT_FALSE(TryDial(plain));
  auto peer = ConnectTcp();
  peer->Send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  RunUntil([&] { return peer->ended(); }, "the server closes");
  auto silent = ConnectTcp();
  RunUntil([&] { return silent->ended(); }, "the server closes");
  EXPECT_TRUE(requests_.empty());
  server_.reset();
  Listen();
  EXPECT_EQ(TryDial(Tls(fingerprint_)).error().code, Code::kUnavailable);
}

TEST_F(TlsTest, DestroyingOneEndDuringAWriteEndsTheOther) {
  Listen(Limits(), files_);
  auto client = Call(Tls(fingerprint_));
  client->Start();
  for (int i = 0; i < 8; ++i) client->channel->Send(std::string(1 << 20, 'x'));
  RunUntil([&] { return !talks_.empty() && !talks_.front()->frames.empty(); }, "some of it");
  client->channel.reset();
  RunUntil([&] { return talks_.front()->closed.has_value(); }, "the end");
  EXPECT_EQ(talks_.front()->closed->code, Code::kUnavailable);
}

TEST_F(TlsTest, FilesThatDoNotFitAreRefused) {
  const auto listen = [&](const TlsFiles& files) {
    ServerEvents events{.admit = [](const HttpRequest&) { return Status(); },
                        .channel = [](std::unique_ptr<Channel>, const Peer&) {},
                        .request = [](const HttpRequest&, std::unique_ptr<HttpReply>) {}};
    return Server::Listen(loop_, {.address = "127.0.0.1", .tls = files}, std::move(events));
  };
  const TlsFiles other{.certificate = dir_.Sub("c2"), .key = dir_.Sub("k2")};
  ASSERT_TRUE(GenerateCertificate(other, {}, kNow));
  EXPECT_EQ(listen({files_.certificate, other.key}).error().code, Code::kInvalid);
  EXPECT_EQ(listen({dir_.Sub("none"), files_.key}).error().code, Code::kInvalid);
  EXPECT_TRUE(listen(other));
}

TEST_F(TlsTest, ACertificateIsMadeForOneselfAlone) {
  ASSERT_EQ(::chmod(files_.key.c_str(), 0644), 0);
  const auto made = GenerateCertificate(files_, {"box.example", "10.0.0.7", "fe80::1"}, kNow);
  ASSERT_TRUE(made) << made.error().Text();
  EXPECT_NE(*made, fingerprint_);
  EXPECT_EQ(*made, *CertificateFingerprint(files_.certificate));
  EXPECT_EQ(StatFile(files_.key)->mode, 0600U);
  EXPECT_EQ(StatFile(files_.certificate)->mode, 0600U);
}

TEST_F(TlsTest, EveryCertificateThatIsMadeCanBeRead) {
  for (int i = 0; i < 1000; ++i) {
    const auto made = GenerateCertificate(files_, {}, kNow);
    ASSERT_TRUE(made);
    ASSERT_EQ(CertificateFingerprint(files_.certificate), made);
  }
}

TEST_F(TlsTest, WhatIsNoNameIsNotCertified) {
  for (const char* name : {"", "a b", "a,DNS:b", "1.2.3", "::g"}) {
    const auto made = GenerateCertificate(files_, {name}, kNow);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, Code::kInvalid) << name;
  }
  EXPECT_EQ(*CertificateFingerprint(files_.certificate), fingerprint_) << "the old one is left";
  EXPECT_EQ(CertificateFingerprint(files_.key).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::rpc
