// What a host tells of its device: to whom, of which folders, and that no secret is in it.
#include "client/remote/device.h"

#include <fmt/format.h>

#include "client/await.h"
#include "device/projects.h"
#include "device/vault.h"
#include "host/access_tokens.h"
#include "tests/model/live_fixture.h"

namespace stet::test {
namespace {

constexpr std::string_view kHeader = "a-header-that-no-client-sees";
constexpr std::string_view kVaulted = "a-value-of-the-vault";
constexpr std::string_view kToken = "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

class DeviceWireTest : public LiveTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(MakeDirs(roots_.config));
    ASSERT_TRUE(MakeDirs(project_ + "/.stet"));
    ASSERT_TRUE(ReplaceFile(roots_.settings(),
                            fmt::format("[models.mine]\ntype='custom'\nid='m'\n"
                                        "api='anthropic-messages'\n"
                                        "baseUrl='https://me:hunter2secret@models.example'\n"
                                        "[models.mine.headers]\nX-Key='{}'\n"
                                        "[[hooks.Stop]]\ncommand='notify --key {}'\n",
                                        kHeader, kToken),
                            Durable::kNo));
    ASSERT_TRUE(ReplaceFile(project_ + "/.stet/config.toml",
                            "[[hooks.Stop]]\ncommand='echo of the project'\n", Durable::kNo));
    ASSERT_TRUE(device::Vault(roots_).Set("ACME_KEY", std::string(kVaulted)));
    host_ = std::make_unique<RunningHost>(host::HostOptions{.roots = roots_});
  }

  std::unique_ptr<client::RemoteLive> With(const std::vector<std::string>& rights,
                                           const std::string& name = "phone") {
    client::RemoteOptions options;
    options.endpoint.host = "127.0.0.1";
    options.endpoint.port = host_->port();
    options.token = host::Tokens(roots_).Add(name, rights).value_or("");
    return client::MakeRemoteLive(options);
  }
};

TEST_F(DeviceWireTest, TheOwnerReadsEverythingButTheSecrets) {
  const std::unique_ptr<client::RemoteLive> live = host_->Client();
  const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*live);
  const auto config = client::Await(*device, &client::Device::Config);
  ASSERT_TRUE(config) << config.error().Text();
  const auto hooks = client::Await(*device, &client::Device::Hooks, project_);
  ASSERT_TRUE(hooks) << hooks.error().Text();
  ASSERT_EQ(hooks->size(), 2U);
  EXPECT_TRUE(hooks->at(0).what.starts_with("notify --key sk-ant-")) << hooks->at(0).what;
  EXPECT_EQ(hooks->at(1).what, "echo of the project");
  EXPECT_FALSE(hooks->at(1).active);
  const auto extensions = client::Await(*device, &client::Device::Extensions, project_);
  ASSERT_TRUE(extensions) << extensions.error().Text();
  const auto trust = client::Await(*device, &client::Device::Trust, project_);
  ASSERT_TRUE(trust) << trust.error().Text();
  EXPECT_FALSE(trust->parts.empty());
  const auto vault = client::Await(*device, &client::Device::Vault);
  ASSERT_TRUE(vault) << vault.error().Text();
  EXPECT_EQ(vault->names, protocol::Texts{"ACME_KEY"});
  const auto checks = client::Await(*device, &client::Device::Examine);
  ASSERT_TRUE(checks) << checks.error().Text();
  EXPECT_FALSE(checks->empty());
  const std::string all = Encode(*config) + Encode(*hooks) + Encode(*extensions) + Encode(*trust) +
                          Encode(*vault) + Encode(*checks);
  EXPECT_NE(all.find("(hidden)"), std::string::npos) << "that there is a header is told";
  for (const std::string_view secret : {kHeader, kVaulted, kToken.substr(12)})
    EXPECT_EQ(all.find(secret), std::string::npos) << secret;
  EXPECT_EQ(all.find("hunter2secret"), std::string::npos) << "nor the password of an address";
}

TEST_F(DeviceWireTest, AViewerSeesNoCommandsAndNothingOfTheVault) {
  const std::unique_ptr<client::RemoteLive> live = With({"view"});
  const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*live);
  EXPECT_TRUE(client::Await(*device, &client::Device::Examine));
  EXPECT_EQ(client::Await(*device, &client::Device::Config).error().code, Code::kDenied);
  EXPECT_EQ(client::Await(*device, &client::Device::Vault).error().code, Code::kDenied);
  ASSERT_TRUE(device::Projects(roots_).Register(project_));
  for (const auto& folder : {project_, std::string("/"), project_ + "/not-there"}) {
    EXPECT_EQ(client::Await(*device, &client::Device::Hooks, folder).error().code, Code::kDenied);
    EXPECT_EQ(client::Await(*device, &client::Device::Extensions, folder).error().code,
              Code::kDenied);
    EXPECT_EQ(client::Await(*device, &client::Device::Trust, folder).error().code, Code::kDenied);
  }
}

TEST_F(DeviceWireTest, OnlyAnAdminNamesFoldersOfNoKnownProject) {
  {
    const std::unique_ptr<client::RemoteLive> live = With({"view", "send", "approve"});
    const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*live);
    EXPECT_EQ(client::Await(*device, &client::Device::Hooks, project_).error().code, Code::kDenied);
    EXPECT_EQ(client::Await(*device, &client::Device::Vault).error().code, Code::kDenied);
  }
  const std::unique_ptr<client::RemoteLive> live =
      With({"view", "send", "approve", "admin"}, "desk");
  const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*live);
  EXPECT_EQ(client::Await(*device, &client::Device::Hooks, project_)->size(), 2U);
  EXPECT_EQ(client::Await(*device, &client::Device::Trust, project_ + "/x").error().code,
            Code::kNotFound);
}

TEST_F(DeviceWireTest, AConfigurationThatIsWrongIsSaidWithoutItsSecrets) {
  ASSERT_TRUE(
      ReplaceFile(roots_.settings(), fmt::format("[model]\n'{}' = 1\n", kToken), Durable::kNo));
  const std::unique_ptr<client::RemoteLive> live = With({"view", "send", "approve"});
  const std::unique_ptr<client::Device> device = client::MakeRemoteDevice(*live);
  const auto config = client::Await(*device, &client::Device::Config);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::kInvalid);
  EXPECT_NE(config.error().message.find("config.toml:2"), std::string::npos)
      << config.error().message;
  EXPECT_EQ(config.error().message.find(kToken.substr(12)), std::string::npos)
      << config.error().message;
}

}  // namespace
}  // namespace stet::test
