#include "cli/verbs/setup.h"

#include <gtest/gtest.h>

#include "face/exit_codes.h"

namespace stet::cli {
namespace {

class FakeModels final : public client::Models {
 public:
  void List(client::Reply<protocol::ModelList> reply) override {
    protocol::ModelList list;
    protocol::ProviderRow& row = list.providers.emplace_back();
    row.name = "acme";
    row.key_variable = "ACME_KEY";
    list.selected = "acme/m";
    if (!has_key) list.problem = "acme/m needs a key";
    reply(std::move(list));
  }
  void Check(const std::string& model, const std::function<void(const std::string&)>&,
             client::Reply<protocol::ModelCheck> reply) override {
    ++checks;
    EXPECT_EQ(model, "");
    protocol::ModelCheck check;
    check.ok = !failure;
    check.failure = failure;
    reply(std::move(check));
  }

  bool has_key = true;
  std::optional<std::string> failure;
  int checks = 0;
};

/// Chooses models; everything else is given up.
class FakeDevice final : public client::Device {
 public:
  void Hooks(const std::string&, client::Reply<protocol::HookRows>) override {}
  void Extensions(const std::string&, client::Reply<protocol::ExtensionRows>) override {}
  void Face(client::Reply<protocol::FaceSettings>) override {}
  void Config(client::Reply<protocol::ConfigReport>) override {}
  void ConfigPath(client::Reply<std::string> reply) override { reply("config.toml"); }
  void ChooseModel(const protocol::ModelChoice& choice, bool, client::Reply<void> reply) override {
    chosen = choice;
    reply({});
  }
  void Trust(const std::string&, client::Reply<protocol::TrustReport>) override {}
  void SetTrust(const std::string&, const std::vector<std::string>&, client::Reply<void>) override {
  }
  void Vault(client::Reply<protocol::VaultReport>) override {}
  void VaultValue(const std::string&, client::Reply<std::string>) override {}
  void SetVault(const std::string&, const std::string&, client::Reply<void>) override {}
  void RemoveVault(const std::string&, client::Reply<void>) override {}
  Result<protocol::SandboxEnd> RunSandboxed(const protocol::SandboxRun&) override {
    return Fail(Code::kUnsupported, "not here");
  }
  void Examine(client::Reply<protocol::CheckRows>) override {}

  protocol::ModelChoice chosen;
};

class SetupTest : public testing::Test {
 protected:
  Result<int> Run() { return RunSetup(command_, models_, device_, console_); }

  SetupArguments command_{.provider = "acme", .model = "m", .key_variable = "", .yes = true};
  FakeModels models_;
  FakeDevice device_;
  face::Console console_;
};

TEST_F(SetupTest, AModelWhoseKeyIsThereIsTried) {
  EXPECT_EQ(Run(), face::kExitDone);
  EXPECT_EQ(models_.checks, 1);
  protocol::ModelChoice choice;
  choice.provider = "acme";
  choice.id = "m";
  EXPECT_EQ(device_.chosen, choice);
}

TEST_F(SetupTest, AModelThatDoesNotAnswerIsAFailure) {
  models_.failure = "overloaded";
  EXPECT_EQ(Run(), face::kExitFailed);
  models_.failure = "auth";
  EXPECT_EQ(Run(), face::kExitAuth);
}

TEST_F(SetupTest, WithoutItsKeyAModelIsChosenAndNotAsked) {
  models_.has_key = false;
  command_.key_variable = "OTHER_KEY";
  EXPECT_EQ(Run(), face::kExitDone);
  EXPECT_EQ(models_.checks, 0);
  EXPECT_EQ(device_.chosen.api_key_env, "OTHER_KEY");
}

}  // namespace
}  // namespace stet::cli
