// TLS and HTTP/2, as the real program speaks them with a real server.
#include "tests/model/front_fixture.h"

namespace stet::test {
namespace {

using TlsTest = FrontTest;

TEST_F(TlsTest, Http2IsSpokenWhereItIsOffered) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->Tls(), {TrustByFile()}));
  EXPECT_EQ(ReceivedHeader("x-front-protocol"), "HTTP/2.0");
  EXPECT_EQ(ReceivedHeader("x-api-key"), "present");
  EXPECT_EQ(front_->Log(1), "HTTP/2.0 200 [-]\n");
}

TEST_F(TlsTest, Http1IsSpokenWhereNothingElseIs) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->OldTls(), {TrustByFile()}));
  EXPECT_EQ(ReceivedHeader("x-front-protocol"), "HTTP/1.1");
}

TEST_F(TlsTest, AReplyIsHeardWhileItComes) {
  for (const bool http2 : {true, false}) {
    StartFront(R"({"replies":[{"times":0,"blocks":[{"text":"some text that does not end"}],
      "delta":4,"fault":{"kind":"stall","afterEvents":5}}]})");
    const Checked checked = Check(http2 ? front_->Tls() : front_->OldTls(), {TrustByFile()});
    EXPECT_EQ(checked.check.failure, "timeout");
    EXPECT_TRUE(checked.check.reply.starts_with("some")) << checked.check.reply;
    EXPECT_EQ(checked.exit_code, 1);
  }
}

TEST_F(TlsTest, WhatIsPackedIsUnpackedOnTheWay) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->Tls() + "/gzip", {TrustByFile()}));
  EXPECT_EQ(front_->Log(1), "HTTP/2.0 200 [gzip]\n");
  ExpectAnswered(Check(front_->OldTls() + "/gzip", {TrustByFile()}));
  EXPECT_EQ(front_->Log(2), "HTTP/2.0 200 [gzip]\nHTTP/1.1 200 [gzip]\n");
}

TEST_F(TlsTest, APackedReplyIsHeardWhileItComes) {
  StartFront(R"({"replies":[{"times":0,"blocks":[{"text":"some text that does not end"}],
    "delta":4,"fault":{"kind":"stall","afterEvents":5}}]})");
  const Checked checked = Check(front_->Tls() + "/gzip", {TrustByFile()});
  EXPECT_EQ(checked.check.failure, "timeout");
  EXPECT_TRUE(checked.check.reply.starts_with("some")) << checked.check.reply;
}

TEST_F(TlsTest, AnAuthorityInAHashedFolderIsTrusted) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->Tls(), {"SSL_CERT_DIR=" + TestCertificates().authority_folder()}));
}

TEST_F(TlsTest, AnUnknownAuthorityIsRefusedAtOnceAndTheKeyNotSent) {
  StartFront(kReady);
  const Checked checked = Check(front_->Tls(), {});
  EXPECT_FALSE(checked.check.ok);
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_EQ(checked.check.failure, "network");
  EXPECT_EQ(checked.check.attempts, 1) << "it would be refused again";
  const std::string message = checked.check.message.value_or("");
  EXPECT_NE(message.find("certificate"), std::string::npos) << message;
  EXPECT_NE(message.find("SSL_CERT_FILE"), std::string::npos) << message;
  EXPECT_TRUE(emulator_->Requests().empty());
}

TEST_F(TlsTest, ACertificateForAnotherNameIsRefused) {
  StartFront(kReady);
  const Checked checked = Check(front_->Tls("127.0.0.2"), {TrustByFile()});
  EXPECT_EQ(checked.check.failure, "network");
  EXPECT_EQ(checked.check.attempts, 1);
  EXPECT_NE(checked.check.message.value_or("").find("127.0.0.2"), std::string::npos)
      << checked.check.message.value_or("");
  EXPECT_TRUE(emulator_->Requests().empty());
}

TEST_F(TlsTest, AFileOfAuthoritiesThatIsNotThereIsSaid) {
  StartFront(kReady);
  const Checked checked = Check(front_->Tls(), {"SSL_CERT_FILE=/nowhere/ca.pem"});
  EXPECT_EQ(checked.check.failure, "network");
  EXPECT_EQ(checked.check.attempts, 1);
  EXPECT_NE(checked.check.message.value_or("").find("/nowhere/ca.pem"), std::string::npos)
      << checked.check.message.value_or("");
}

TEST_F(TlsTest, NamesAndBothKindsOfAddressesWork) {
  StartFront(kReady);
  ExpectAnswered(Check(front_->Tls("[::1]"), {TrustByFile()}));
  ExpectAnswered(Check(front_->Tls("localhost"), {TrustByFile()}));
}

}  // namespace
}  // namespace stet::test
