#include "client/remote/device.h"

#include <utility>

#include "protocol/methods.h"

namespace stet::client {
namespace {

namespace method = protocol::method;

protocol::FolderParams About(const std::string& folder) {
  protocol::FolderParams params;
  params.cwd = folder;
  return params;
}

std::unexpected<Error> NotFromHere() {
  return Fail(Code::kUnsupported, "that is done on the device itself, not over its host");
}

class RemoteDevice final : public Device {
 public:
  RemoteDevice(RemoteLive& host, std::chrono::milliseconds within) : host_(host), within_(within) {}

  void Config(Reply<protocol::ConfigReport> reply) override {
    Ask<method::ConfigGet>({}, std::move(reply));
  }
  void Hooks(const std::string& folder, Reply<protocol::HookRows> reply) override {
    Ask<method::HooksList>(About(folder), std::move(reply), &protocol::HookReport::hooks);
  }
  void Extensions(const std::string& folder, Reply<protocol::ExtensionRows> reply) override {
    Ask<method::ExtensionsList>(About(folder), std::move(reply),
                                &protocol::ExtensionReport::extensions);
  }
  void Trust(const std::string& folder, Reply<protocol::TrustReport> reply) override {
    Ask<method::TrustGet>(About(folder), std::move(reply));
  }
  void Vault(Reply<protocol::VaultReport> reply) override {
    Ask<method::VaultList>({}, std::move(reply));
  }
  void Examine(Reply<protocol::CheckRows> reply) override {
    Ask<method::DeviceExamine>({}, std::move(reply), &protocol::DoctorReport::checks);
  }

  void Face(Reply<protocol::FaceSettings> reply) override { reply(NotFromHere()); }
  void ConfigPath(Reply<std::string> reply) override { reply(NotFromHere()); }
  void ChooseModel(const protocol::ModelChoice&, bool, Reply<void> reply) override {
    reply(NotFromHere());
  }
  void SetTrust(const std::string&, const std::vector<std::string>&, Reply<void> reply) override {
    reply(NotFromHere());
  }
  void VaultValue(const std::string&, Reply<std::string> reply) override { reply(NotFromHere()); }
  void SetVault(const std::string&, const std::string&, Reply<void> reply) override {
    reply(NotFromHere());
  }
  void RemoveVault(const std::string&, Reply<void> reply) override { reply(NotFromHere()); }
  Result<protocol::SandboxEnd> RunSandboxed(const protocol::SandboxRun&) override {
    return NotFromHere();
  }

 private:
  template <protocol::IsMethod M>
  void Ask(const typename M::Params& params, Reply<typename M::Reply> reply) {
    host_.Call<M>(params, {.within = within_}, std::move(reply));
  }
  /// Replies one member of the host's answer.
  template <protocol::IsMethod M, class T>
  void Ask(const typename M::Params& params, Reply<T> reply, T M::Reply::* member) {
    host_.Call<M>(params, {.within = within_}, [reply = std::move(reply), member](Replied<M> said) {
      if (!said) return reply(std::unexpected(std::move(said).error()));
      reply(std::move((*said).*member));
    });
  }

  RemoteLive& host_;
  const std::chrono::milliseconds within_;
};

}  // namespace

std::unique_ptr<Device> MakeRemoteDevice(RemoteLive& host, std::chrono::milliseconds within) {
  return std::make_unique<RemoteDevice>(host, within);
}

}  // namespace stet::client
