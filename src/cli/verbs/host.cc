// `stet host VERB`: the process in the background that sessions are worked on in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/display_width.h"
#include "base/fs.h"
#include "cli/verb.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct HostArguments {
  bool json = false;
  std::string launched = "user";
  std::int64_t ready_fd = -1;
  std::optional<std::string> listen;
  bool exposed = false;
  std::optional<std::string> certificate;
  std::optional<std::string> key;
  bool print = false;      // The unit, instead of saying what to do with it.
  std::size_t lines = 50;  // Of the logs.
  std::string session_id;  // Whose log; as it was typed.
  std::string name;        // Of a token.
  std::vector<std::string> rights;
};

protocol::HostLaunch LaunchOf(const HostArguments& command) {
  protocol::HostLaunch launch;
  launch.launched = command.launched;
  launch.ready_fd = command.ready_fd;
  launch.listen = command.listen;
  launch.exposed = command.exposed;
  launch.certificate = command.certificate;
  launch.key = command.key;
  return launch;
}

Result<int> StartHost(const HostArguments& command, client::HostControl& host,
                      face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::HostState state, host.Start(LaunchOf(command)));
  std::string text = fmt::format("running: process {}, {}", state.pid, state.socket);
  if (!state.address.empty()) text += fmt::format(", {}", state.address);
  if (state.fingerprint) text += fmt::format("\ncertificate: sha256 {}", *state.fingerprint);
  return console.Print(PrintableText(text) + "\n") ? face::kExitDone : face::kExitFailed;
}

/// 1 when none runs, so that scripts can ask.
Result<int> ShowHostStatus(const HostArguments& command, client::HostControl& host,
                           face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::HostReport report, host.Report());
  const int code = report.status ? face::kExitDone : face::kExitFailed;
  if (command.json) return console.PrintJson(Encode(report) + "\n") ? code : face::kExitFailed;
  std::string text = report.state;
  if (report.state == "orphan") text = "stopped: the last one died without saying so";
  if (const auto& status = report.status) {
    text = fmt::format("running: process {}, stet {}, for {} s\nsocket: {}\n", status->pid,
                       status->program, status->uptime_ms / 1000, status->socket);
    if (!status->address.empty()) text += fmt::format("address: {}\n", status->address);
    text +=
        fmt::format("sessions awake: {}, working: {}; clients: {}; memory: {} MB", status->sessions,
                    status->working, status->clients, status->memory_bytes >> 20);
    if (status->launched == "client") text += "\nit ends with its last client";
  }
  return console.PrintText(text + "\n") ? code : face::kExitFailed;
}

Result<int> ShowHostLogs(const HostArguments& command, client::HostControl& host,
                         face::Console& console) {
  ASSIGN_OR_RETURN(const std::string path, host.LogPath(command.session_id));
  const Result<std::string> newest = ReadFile(path);
  if (!newest && newest.error().code == Code::kNotFound)
    return Fail(Code::kNotFound,
                "no host has run yet, so it has no log: `stet host start` starts one");
  if (!newest) return std::unexpected(newest.error());
  // The file before it was rotated may not be there.
  const std::string text = ReadFile(path + ".1").value_or("") + *newest;
  std::string_view tail = text;
  std::size_t lines = 0;
  for (std::size_t at = tail.size(); at-- > 0;) {
    if (tail[at] != '\n' || lines++ < command.lines) continue;
    tail.remove_prefix(at + 1);
    break;
  }
  return console.PrintText(tail) ? face::kExitDone : face::kExitFailed;
}

Result<int> InstallHost(const HostArguments& command, client::HostControl& host,
                        face::Console& console) {
  ASSIGN_OR_RETURN(const std::string unit, host.Unit());
  if (command.print) return console.Print(unit) ? face::kExitDone : face::kExitFailed;
  console.Say(
      "stet: nothing is installed by itself. To have systemd run the host:\n"
      "  stet host install --print > ~/.config/systemd/user/stet.service\n"
      "  systemctl --user enable --now stet.service");
  return face::kExitUsage;
}

Result<int> ServeHost(const HostArguments& command, client::HostControl& host, face::Console&) {
  RETURN_IF_ERROR(host.Serve(LaunchOf(command)));
  return face::kExitDone;
}

Result<int> StopHost(const HostArguments&, client::HostControl& host, face::Console& console) {
  ASSIGN_OR_RETURN(const bool stopped, host.Stop());
  console.Say(stopped ? "stet: the host has stopped" : "stet: no host runs");
  return face::kExitDone;
}

Result<int> ResetHost(const HostArguments&, client::HostControl& host, face::Console&) {
  RETURN_IF_ERROR(host.Reset());
  return face::kExitDone;
}

Result<int> AddToken(const HostArguments& command, client::HostControl& host,
                     face::Console& console) {
  const std::vector<std::string> usual = {"view", "send", "approve"};
  ASSIGN_OR_RETURN(const std::string token,
                   host.AddToken(command.name, command.rights.empty() ? usual : command.rights));
  console.Say("stet: the token is shown this once; every program that has it may connect");
  return console.Print(token + "\n") ? face::kExitDone : face::kExitFailed;
}

Result<int> ListTokens(const HostArguments& command, client::HostControl& host,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::TokenRows rows, host.Tokens());
  if (command.json)
    return console.PrintJson(Encode(rows) + "\n") ? face::kExitDone : face::kExitFailed;
  std::string text;
  for (const protocol::TokenRow& row : rows)
    text += PrintableText(fmt::format("{}  {}", row.name, fmt::join(row.rights, ","))) + "\n";
  return console.Print(text) ? face::kExitDone : face::kExitFailed;
}

Result<int> RemoveToken(const HostArguments& command, client::HostControl& host, face::Console&) {
  RETURN_IF_ERROR(host.RevokeToken(command.name));
  return face::kExitDone;
}

std::vector<Option> ListenOptions(HostArguments& given) {
  return {{"--listen", &given.listen, "Also listen here: 127.0.0.1:7777; port 0 means any"},
          {"--expose", &given.exposed, "Other machines may reach it, over TLS"},
          {"--certificate", &given.certificate, "For TLS: a PEM file"},
          {"--key", &given.key, "The certificate's key: a PEM file"}};
}

std::vector<Option> ServeOptions(HostArguments& given) {
  std::vector<Option> options = ListenOptions(given);
  options.push_back({.names = "--launched", .target = &given.launched, .help = "", .hidden = true});
  options.push_back({.names = "--ready-fd", .target = &given.ready_fd, .help = "", .hidden = true});
  return options;
}

Verb TokenVerb(const std::shared_ptr<HostArguments>& given) {
  const Option name{
      .names = "NAME", .target = &given->name, .help = "Whose it is", .required = true};
  const Option rights{.names = "--rights",
                      .target = &given->rights,
                      .help = "view, send, approve, admin; view,send,approve by default",
                      .values = Values::kWithCommas};
  constexpr auto kHost = &face::Clients::host;
  return {.name = "token",
          .help = "Who may connect over the network",
          .verbs = {{.name = "add",
                     .help = "Make a token and print it, once",
                     .options = {name, rights},
                     .run = Asks<kHost>(given, AddToken)},
                    {.name = "ls",
                     .help = "List the tokens",
                     .options = {JsonFlag(given->json)},
                     .run = Asks<kHost>(given, ListTokens)},
                    {.name = "rm",
                     .help = "Take one back",
                     .options = {name},
                     .run = Asks<kHost>(given, RemoveToken)}}};
}

}  // namespace

VerbEntry HostVerb() {
  return {"host", "The process in the background that sessions are worked on in", [](Verb& host) {
            const auto given = std::make_shared<HostArguments>();
            constexpr auto kHost = &face::Clients::host;
            host.verbs = {
                {.name = "serve",
                 .help = "Run it here, until it is stopped",
                 .options = ServeOptions(*given),
                 .run = Asks<kHost>(given, ServeHost)},
                {.name = "start",
                 .help = "Start it in the background",
                 .options = ListenOptions(*given),
                 .run = Asks<kHost>(given, StartHost)},
                {.name = "stop",
                 .help = "Stop it; what runs is cancelled",
                 .run = Asks<kHost>(given, StopHost)},
                {.name = "status",
                 .help = "Whether it runs, and what it does",
                 .options = {JsonFlag(given->json)},
                 .run = Asks<kHost>(given, ShowHostStatus)},
                {.name = "reset",
                 .help = "Forget its state and its token; it must not run",
                 .run = Asks<kHost>(given, ResetHost)},
                {.name = "install",
                 .help = "Have systemd run it for this user",
                 .options = {{"--print", &given->print, "Print the unit"}},
                 .run = Asks<kHost>(given, InstallHost)},
                {.name = "logs",
                 .help = "The end of its log",
                 .options = {{"--lines", &given->lines, "How many"},
                             {"--session", &given->session_id, "Of what it did for this session"}},
                 .run = Asks<kHost>(given, ShowHostLogs)},
                TokenVerb(given),
            };
          }};
}

}  // namespace stet::cli
