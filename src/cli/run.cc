#include "cli/run.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/attach.h"
#include "cli/doctor.h"
#include "cli/exit_codes.h"
#include "cli/extensions.h"
#include "cli/hooks.h"
#include "cli/host.h"
#include "cli/interactive.h"
#include "cli/models.h"
#include "cli/print.h"
#include "cli/sandbox.h"
#include "cli/sessions.h"
#include "cli/setup.h"
#include "cli/stream_json.h"
#include "cli/tasks.h"
#include "cli/terminal.h"
#include "cli/trust.h"
#include "cli/vault.h"

namespace stet::cli {

namespace {

Result<int> PerformOnDevice(const Command& command, const Clients& clients, Terminal& terminal) {
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
  if (const auto* doctor = std::get_if<DoctorCommand>(&command))
    return RunDoctor(*doctor, *device, terminal);
  if (const auto* trust = std::get_if<TrustCommand>(&command))
    return RunTrust(*trust, *device, terminal);
  if (const auto* vault = std::get_if<VaultCommand>(&command))
    return RunVault(*vault, *device, terminal);
  if (const auto* sandbox = std::get_if<SandboxCommand>(&command))
    return RunSandbox(*sandbox, *device, terminal);
  if (const auto* config = std::get_if<ConfigCommand>(&command))
    return RunConfig(*config, *device, terminal);
  if (const auto* hooks = std::get_if<HooksCommand>(&command))
    return RunHooks(*hooks, *device, terminal);
  if (const auto* extensions = std::get_if<ExtensionsCommand>(&command))
    return RunExtensions(*extensions, *device, terminal);
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> models, clients.models());
  return RunSetup(std::get<SetupCommand>(command), *models, *device, terminal);
}

client::Work WorkOf(const WorkCommand& work) {
  if (work.host) return client::Work::kBackground;
  const bool old = work.continue_latest || work.resume;
  if (work.print || work.output_format == "stream-json")
    return old ? client::Work::kOldSession : client::Work::kNewSession;
  return client::Work::kConversation;
}

std::string_view FaceOf(const WorkCommand& work) {
  if (work.output_format == "stream-json") return "sdk";
  return work.print ? "print" : "terminal";
}

Result<int> PerformOnHost(const Command& command, const Clients& clients, Terminal& terminal) {
  if (const auto* host = std::get_if<HostCommand>(&command)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::HostControl> control, clients.host());
    return RunHost(*host, *control, terminal);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients.sessions());
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
  return RunAttach(std::get<AttachCommand>(command),
                   {*sessions, *device, [&] { return clients.remote("terminal"); }}, terminal);
}

Result<int> Perform(const Command& command, const Clients& clients, Terminal& terminal) {
  if (const auto* models = std::get_if<ModelsCommand>(&command)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> client, clients.models());
    return RunModels(*models, *client, terminal);
  }
  if (const auto* work = std::get_if<WorkCommand>(&command)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Live> client,
                     clients.live(WorkOf(*work), FaceOf(*work)));
    if (work->output_format == "stream-json") return RunStreamJson(*work, *client, terminal);
    if (work->print) return RunPrint(*work, *client, terminal);
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> sessions, clients.sessions());
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, clients.device());
    return RunInteractive(*work, {*client, *sessions, *device}, terminal);
  }
  if (std::holds_alternative<HostCommand>(command) ||
      std::holds_alternative<AttachCommand>(command))
    return PerformOnHost(command, clients, terminal);
  const auto* tasks = std::get_if<TasksCommand>(&command);
  if (tasks == nullptr && !std::holds_alternative<SessionsCommand>(command))
    return PerformOnDevice(command, clients, terminal);
  ASSIGN_OR_RETURN(const std::unique_ptr<client::Sessions> client, clients.sessions());
  if (tasks != nullptr) return RunTasks(*tasks, *client, terminal);
  return RunSessions(std::get<SessionsCommand>(command), *client, terminal);
}

}  // namespace

int Run(int argc, const char* const* argv, const Clients& clients) {
  Terminal terminal = Terminal::Detect();
  const Command command = ParseArguments(argc, argv);
  if (const auto* answer = std::get_if<Answer>(&command)) {
    if (answer->exit_code == kExitDone)
      return terminal.Print(answer->text) ? kExitDone : kExitFailed;
    terminal.Say(answer->text.substr(0, answer->text.find_last_not_of('\n') + 1));
    return answer->exit_code;
  }
  const Result<int> done = Perform(command, clients, terminal);
  if (done) return *done;
  terminal.Say(fmt::format("stet: {}", done.error().Text()));
  return ExitCodeOf(done.error());
}

}  // namespace stet::cli
