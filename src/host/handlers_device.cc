// What a host does for the methods of the device.
#include "client/await.h"
#include "device/projects.h"
#include "host/handler.h"
#include "host/local/device.h"
#include "host/local/models.h"
#include "protocol/methods.h"

namespace stet::host {
namespace {

namespace method = protocol::method;
using config::Roots;
using protocol::Nothing;

constexpr auto kDeviceHandlers = HandlersOf(
    protocol::DeviceMethods(), On<method::ConfigGet>([](const Roots& roots, const Nothing&) {
      return client::Await(*MakeLocalDevice(roots), &client::Device::Config);
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
    On<method::ModelsList>([](const Roots& roots, const Nothing&) { return ListModels(roots); }),
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
    }));

}  // namespace

std::span<const Handler> DeviceHandlers() { return kDeviceHandlers; }

}  // namespace stet::host
