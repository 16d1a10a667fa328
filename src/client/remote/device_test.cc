#include "client/remote/device.h"

#include <gtest/gtest.h>

#include "client/await.h"
#include "client/fake_host_fixture.h"

namespace stet::client {
namespace {

class RemoteDeviceTest : public testing::Test {
 protected:
  RemoteDeviceTest() {
    RemoteOptions options;
    options.dial = host_.MakeDialer();
    options.seed = 5;
    live_ = MakeRemoteLive(options);
    device_ = MakeRemoteDevice(*live_);
    EXPECT_TRUE(Await(*live_, &RemoteLive::Welcome));
  }

  /// Every request is answered with this from now on.
  void Answers(FakeHost::Reply reply) {
    host_.Do([&] {
      host_.other = [this, reply](const std::string& method, const std::string& params) {
        asked_ = method + " " + params;
        return reply;
      };
    });
  }
  std::string Asked() {
    std::string asked;
    host_.Do([&] { asked = asked_; });
    return asked;
  }

  FakeHost host_;
  std::string asked_;
  std::unique_ptr<RemoteLive> live_;
  std::unique_ptr<Device> device_;
};

TEST_F(RemoteDeviceTest, WhatOnlyReadsIsAskedOfTheHost) {
  Answers(R"({"path":"/c","exists":true,"settings":[{"key":"policy.mode"}]})");
  EXPECT_EQ(Await(*device_, &Device::Config)->settings.at(0).key, "policy.mode");
  EXPECT_EQ(Asked(), "config.get {}");
  Answers(R"({"hooks":[{"event":"Stop"}]})");
  EXPECT_EQ(Await(*device_, &Device::Hooks, "/p")->at(0).event, "Stop");
  EXPECT_EQ(Asked(), R"(hooks.list {"cwd":"/p"})");
  Answers(R"({"extensions":[{"id":"one"}]})");
  EXPECT_EQ(Await(*device_, &Device::Extensions, "/p")->at(0).id, "one");
  EXPECT_EQ(Asked(), R"(extensions.list {"cwd":"/p"})");
  Answers(R"({"project":"/p","fingerprint":"f"})");
  EXPECT_EQ(Await(*device_, &Device::Trust, "/p")->fingerprint, "f");
  EXPECT_EQ(Asked(), R"(trust.get {"cwd":"/p"})");
  Answers(R"({"names":["ACME_KEY"]})");
  EXPECT_EQ(Await(*device_, &Device::Vault)->names.at(0), "ACME_KEY");
  EXPECT_EQ(Asked(), "vault.list {}");
  Answers(R"({"version":"1","ok":true,"checks":[{"name":"git","verdict":"ok"}]})");
  EXPECT_EQ(Await(*device_, &Device::Examine)->at(0).name, "git");
  EXPECT_EQ(Asked(), "device.examine {}");
}

TEST_F(RemoteDeviceTest, WhatIsOfTheDeviceItselfIsRefusedWithoutAskingTheHost) {
  Answers("{}");
  EXPECT_EQ(Await(*device_, &Device::Face).error().code, Code::kUnsupported);
  EXPECT_EQ(Await(*device_, &Device::ConfigPath).error().code, Code::kUnsupported);
  EXPECT_EQ(Await(*device_, &Device::ChooseModel, protocol::ModelChoice(), true).error().code,
            Code::kUnsupported);
  EXPECT_EQ(
      Await(*device_, &Device::SetTrust, "/p", std::vector<std::string>{"hooks"}).error().code,
      Code::kUnsupported);
  EXPECT_EQ(Await(*device_, &Device::VaultValue, "K").error().code, Code::kUnsupported);
  EXPECT_EQ(Await(*device_, &Device::SetVault, "K", "v").error().code, Code::kUnsupported);
  EXPECT_EQ(Await(*device_, &Device::RemoveVault, "K").error().code, Code::kUnsupported);
  EXPECT_EQ(device_->RunSandboxed({}).error().code, Code::kUnsupported);
  EXPECT_EQ(Asked(), "");
}

TEST_F(RemoteDeviceTest, WhatTheHostRefusesIsHandedOn) {
  Answers(Fail(Code::kDenied, "/p is in no project"));
  EXPECT_EQ(Await(*device_, &Device::Hooks, "/p").error(),
            Error(Code::kDenied, "/p is in no project"));
  Answers("[]");
  EXPECT_EQ(Await(*device_, &Device::Examine).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stet::client
