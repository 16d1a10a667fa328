// What a host does for the methods of the device.
//
// What these answer was written by people: a command of a hook or an address may hold a secret.
// What looks like one is masked; what is known to be one (values of headers, of the vault) is not
// in it.
#include <algorithm>

#include "base/secrets.h"
#include "base/version.h"
#include "client/await.h"
#include "device/projects.h"
#include "host/folder_right.h"
#include "host/handler.h"
#include "host/local/device.h"
#include "host/local/models.h"
#include "protocol/methods.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using client::Device;
using config::Roots;
using protocol::FolderParams;
using protocol::Nothing;

template <class T>
Result<T> Masked(const Result<T>& answer) {
  if (!answer) return Fail(answer.error().code, MaskSecrets(answer.error().Text()));
  return Decode<T>(MaskSecrets(Encode(*answer)));
}

/// What the device says to `question` about a folder that the caller may name.
template <class T>
Result<T> AboutFolder(const Roots& roots, const FolderParams& params, const Caller& caller,
                      void (Device::*question)(const std::string&, client::Reply<T>)) {
  RETURN_IF_ERROR(MayName(roots, caller, params.cwd));
  ASSIGN_OR_RETURN(const std::string folder, device::FolderAt(params.cwd));
  return client::Await(*MakeLocalDevice(roots), question, folder);
}

Result<protocol::DoctorReport> Examine(const Roots& roots) {
  protocol::DoctorReport report;
  report.version = ProgramVersion();
  ASSIGN_OR_RETURN(report.checks, client::Await(*MakeLocalDevice(roots), &Device::Examine));
  report.ok = std::ranges::none_of(
      report.checks, [](const protocol::CheckRow& row) { return row.verdict == "fail"; });
  return report;
}

Result<protocol::ExtensionReport> ExtensionsOf(const Roots& roots, const FolderParams& params,
                                               const Caller& caller) {
  protocol::ExtensionReport report;
  ASSIGN_OR_RETURN(report.extensions, AboutFolder(roots, params, caller, &Device::Extensions));
  return report;
}

Result<protocol::HookReport> HooksOf(const Roots& roots, const FolderParams& params,
                                     const Caller& caller) {
  protocol::HookReport report;
  ASSIGN_OR_RETURN(report.hooks, AboutFolder(roots, params, caller, &Device::Hooks));
  return report;
}

constexpr auto kDeviceHandlers = HandlersOf(
    protocol::DeviceMethods(), On<method::ConfigGet>([](const Roots& roots, const Nothing&) {
      return Masked(client::Await(*MakeLocalDevice(roots), &Device::Config));
    }),
    On<method::DeviceExamine>(
        [](const Roots& roots, const Nothing&) { return Masked(Examine(roots)); }),
    On<method::ExtensionsList>(
        [](const Roots& roots, const FolderParams& params, const Caller& caller) {
          return Masked(ExtensionsOf(roots, params, caller));
        }),
    On<method::HooksList>([](const Roots& roots, const FolderParams& params, const Caller& caller) {
      return Masked(HooksOf(roots, params, caller));
    }),
    On<method::HostKeep>([](Asked<method::HostKeep> asked) -> Async<Result<Nothing>> {
      asked.host.Keep();
      co_return Nothing();
    }),
    On<method::HostStatus>(
        [](Asked<method::HostStatus> asked) -> Async<Result<protocol::HostStatus>> {
          co_return asked.host.Describe();
        }),
    On<method::HostStop>([](Asked<method::HostStop> asked) -> Async<Result<Nothing>> {
      asked.host.loop().Post([&host = asked.host] { host.Stop(); });
      co_return Nothing();
    }),
    On<method::ModelsList>(
        [](const Roots& roots, const Nothing&) { return Masked(ListModels(roots)); }),
    On<method::ProjectsBrowse>([](const Roots& roots, const protocol::PathParams& params) {
      return device::Projects(roots).Browse(params.path);
    }),
    On<method::ProjectsList>(
        [](const Roots& roots, const Nothing&) -> Result<protocol::ProjectList> {
          protocol::ProjectList list;
          ASSIGN_OR_RETURN(list.projects, device::Projects(roots).List());
          return list;
        }),
    On<method::ProjectsRegister>([](const Roots& roots, const protocol::PathParams& params) {
      return device::Projects(roots).Register(params.path);
    }),
    On<method::ProjectsRemove>([](const Roots& roots, const protocol::ProjectRef& params) {
      return device::Projects(roots).Remove(params.project_id);
    }),
    On<method::TrustGet>([](const Roots& roots, const FolderParams& params, const Caller& caller) {
      return Masked(AboutFolder(roots, params, caller, &Device::Trust));
    }),
    On<method::VaultList>([](const Roots& roots, const Nothing&) {
      return Masked(client::Await(*MakeLocalDevice(roots), &Device::Vault));
    }));

}  // namespace

std::span<const Handler> DeviceHandlers() { return kDeviceHandlers; }

}  // namespace stet::host
