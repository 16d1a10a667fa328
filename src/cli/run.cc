#include "cli/run.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/doctor.h"
#include "cli/extensions.h"
#include "cli/hooks.h"
#include "cli/host.h"
#include "cli/models.h"
#include "cli/print.h"
#include "cli/sandbox.h"
#include "cli/sessions.h"
#include "cli/setup.h"
#include "cli/tasks.h"
#include "cli/trust.h"
#include "cli/vault.h"
#include "face/console.h"
#include "face/exit_codes.h"

namespace stet::cli {

namespace {

Result<int> PerformOnDevice(const Command& command, const face::Clients& clients,
                            face::Console& console) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
  if (const auto* doctor = std::get_if<DoctorCommand>(&command))
    return RunDoctor(*doctor, *device, console);
  if (const auto* trust = std::get_if<TrustCommand>(&command))
    return RunTrust(*trust, *device, console);
  if (const auto* vault = std::get_if<VaultCommand>(&command))
    return RunVault(*vault, *device, console);
  if (const auto* sandbox = std::get_if<SandboxCommand>(&command))
    return RunSandbox(*sandbox, *device, console);
  if (const auto* config = std::get_if<ConfigCommand>(&command))
    return RunConfig(*config, *device, console);
  if (const auto* hooks = std::get_if<HooksCommand>(&command))
    return RunHooks(*hooks, *device, console);
  if (const auto* extensions = std::get_if<ExtensionsCommand>(&command))
    return RunExtensions(*extensions, *device, console);
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> models, clients.models());
  return RunSetup(std::get<SetupCommand>(command), *models, *device, console);
}

Result<int> Perform(const Command& command, const face::Clients& clients, const Faces& faces,
                    face::Console& console) {
  if (const auto* models = std::get_if<ModelsCommand>(&command)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> client, clients.models());
    return RunModels(*models, *client, console);
  }
  if (const auto* work = std::get_if<face::WorkOptions>(&command)) {
    if (work->output_format == "stream-json") return faces.stream_json(*work, clients, console);
    return work->print ? RunPrint(*work, clients, console)
                       : faces.conversation(*work, clients, console);
  }
  if (const auto* attach = std::get_if<AttachCommand>(&command)) {
    face::WorkOptions work;
    work.resume = attach->session_id;
    work.cwd = attach->cwd;
    return faces.attach(work, clients, console);
  }
  if (const auto* host = std::get_if<HostCommand>(&command)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::HostControl> control, clients.host());
    return RunHost(*host, *control, console);
  }
  const auto* tasks = std::get_if<TasksCommand>(&command);
  if (tasks == nullptr && !std::holds_alternative<SessionsCommand>(command))
    return PerformOnDevice(command, clients, console);
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> client, clients.sessions());
  if (tasks != nullptr) return RunTasks(*tasks, *client, console);
  return RunSessions(std::get<SessionsCommand>(command), *client, console);
}

}  // namespace

int Run(int argc, const char* const* argv, const face::Clients& clients, const Faces& faces) {
  face::Console console = face::Console::Detect();
  const Command command = ParseArguments(argc, argv);
  if (const auto* answer = std::get_if<Answer>(&command)) {
    if (answer->exit_code == face::kExitDone)
      return console.Print(answer->text) ? face::kExitDone : face::kExitFailed;
    console.Say(answer->text.substr(0, answer->text.find_last_not_of('\n') + 1));
    return answer->exit_code;
  }
  const Result<int> done = Perform(command, clients, faces, console);
  if (done) return *done;
  console.Say(fmt::format("stet: {}", done.error().Text()));
  return face::ExitCodeOf(done.error());
}

}  // namespace stet::cli
