// stet: joins the command line face to an in-process host.
#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/diagnostics.h"
#include "base/guard.h"
#include "base/version.h"
#include "cli/run.h"
#include "config/roots.h"
#include "emulator/program.h"
#include "host/local_device.h"
#include "host/local_live.h"
#include "host/local_models.h"
#include "host/local_sessions.h"
#include "sandbox/confine.h"

namespace {

stet::Result<std::unique_ptr<stet::client::Sessions>> OpenSessions() {
  ASSIGN_OR_RETURN(stet::config::Roots roots, stet::config::FindRoots());
  // Without a data folder there is nothing to tell of yet, and nothing is made for it.
  (void)stet::Diagnostics::Open(roots.diagnostics(), stet::Level::kWarn);
  return stet::host::MakeLocalSessions(std::move(roots));
}

stet::Result<std::unique_ptr<stet::client::Live>> OpenLive() {
  ASSIGN_OR_RETURN(stet::config::Roots roots, stet::config::FindRoots());
  (void)stet::Diagnostics::Open(roots.diagnostics(), stet::Level::kWarn);
  return stet::host::MakeLocalLive(std::move(roots));
}

stet::Result<std::unique_ptr<stet::client::Models>> OpenModels() {
  ASSIGN_OR_RETURN(stet::config::Roots roots, stet::config::FindRoots());
  return stet::host::MakeLocalModels(std::move(roots));
}

stet::Result<std::unique_ptr<stet::client::Device>> OpenDevice() {
  ASSIGN_OR_RETURN(stet::config::Roots roots, stet::config::FindRoots());
  return stet::host::MakeLocalDevice(std::move(roots));
}

}  // namespace

int main(int argc, char** argv) {
  stet::BecomeGuardIfAsked(argc, argv);
  stet::sandbox::BecomeConfinedIfAsked(argc, argv);
  // Scripts ask for the version often: nothing is set up for it.
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    const std::string_view version = stet::ProgramVersion();
    std::printf("stet %.*s\n", static_cast<int>(version.size()), version.data());
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);  // A reader that went away is an error of write(2).
  std::signal(SIGXFSZ, SIG_IGN);  // So is a file that may not grow.
  if (argc >= 2 && std::string_view(argv[1]) == "emulator")
    return stet::emulator::EmulatorMain(argc - 1, argv + 1);
  return stet::cli::Run(
      argc, argv,
      {.sessions = OpenSessions, .models = OpenModels, .live = OpenLive, .device = OpenDevice});
}
