// stet: joins the faces to an in-process host.
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "acp/run.h"
#include "base/diagnostics.h"
#include "base/guard/guard.h"
#include "base/private_process.h"
#include "base/version.h"
#include "cli/run.h"
#include "config/roots.h"
#include "emulator/program.h"
#include "host/local/control.h"
#include "host/local/device.h"
#include "host/local/models.h"
#include "host/local/reach.h"
#include "host/local/sessions.h"
#include "sandbox/box.h"
#include "sdk/stream_json.h"
#include "tui/attach.h"
#include "tui/interactive.h"

namespace {

/// How a command gets a client: nothing is looked for before it asks.
template <class Client, class Make>
auto From(Make make) {
  return [make](auto... more) -> stet::Result<std::unique_ptr<Client>> {
    ASSIGN_OR_RETURN(const stet::config::Roots roots, stet::config::FindRoots());
    // Without a data folder there is nothing to tell of yet, and nothing is made for it.
    (void)stet::Diagnostics::Open(roots.diagnostics(), stet::Level::kWarn);
    return make(roots, more...);
  };
}

}  // namespace

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv, stet::sandbox::MakeBox);
  stet::sandbox::BecomeConfinedIfAsked(argc, argv);
  // Scripts ask for the version often: nothing is set up for it.
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("stet %s\n", std::string(stet::ProgramVersion()).c_str());
    return 0;
  }
  stet::MakeProcessPrivate();
  std::signal(SIGPIPE, SIG_IGN);  // A reader that went away is an error of write(2).
  std::signal(SIGXFSZ, SIG_IGN);  // So is a file that may not grow.
  if (argc >= 2 && std::string_view(argv[1]) == "emulator")
    return stet::emulator::EmulatorMain(argc - 1, argv + 1);
  namespace client = stet::client;
  namespace host = stet::host;
  const stet::face::Clients clients{
      .sessions = From<client::Sessions>([](const stet::config::Roots& roots) {
        return host::MakeLocalSessions(roots, [](const std::string& line) {
          std::fprintf(stderr, "stet: %s\n", line.c_str());
        });
      }),
      .models = From<client::Models>(host::MakeLocalModels),
      .live = From<client::Live>(host::OpenLive),
      .host = From<client::HostControl>(host::MakeHostControl),
      .remote = From<client::RemoteLive>(host::ReachOrStart),
      .device = From<client::Device>(host::MakeLocalDevice)};
  if (argc == 2 && std::string_view(argv[1]) == "acp")
    return stet::acp::RunAcp({clients.sessions, clients.models, [&clients] {
                                return clients.live(client::Work::kOldSession, "acp");
                              }});
  return stet::cli::Run(
      argc, argv, clients,
      {stet::tui::RunConversation, stet::sdk::RunStreamJson, stet::tui::RunAttach});
}
