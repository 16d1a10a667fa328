#include "cli/host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fs.h"
#include "base/text_width.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

protocol::HostLaunch LaunchOf(const HostCommand& command) {
  protocol::HostLaunch launch;
  launch.launched = command.launched;
  launch.ready_fd = command.ready_fd;
  launch.listen = command.listen;
  launch.exposed = command.exposed;
  launch.certificate = command.certificate;
  launch.key = command.key;
  return launch;
}

Result<int> Start(const HostCommand& command, client::HostControl& host, face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::HostState state, host.Start(LaunchOf(command)));
  std::string text = fmt::format("running: process {}, {}", state.pid, state.socket);
  if (!state.address.empty()) text += fmt::format(", {}", state.address);
  if (state.fingerprint) text += fmt::format("\ncertificate: sha256 {}", *state.fingerprint);
  return console.Print(PrintableText(text) + "\n") ? face::kExitDone : face::kExitFailed;
}

/// 1 when none runs, so that scripts can ask.
Result<int> ShowStatus(const HostCommand& command, client::HostControl& host,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::HostReport report, host.Report());
  const int code = report.status ? face::kExitDone : face::kExitFailed;
  if (command.json) return console.Print(Encode(report) + "\n") ? code : face::kExitFailed;
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
  return console.Print(text + "\n") ? code : face::kExitFailed;
}

Result<int> ShowLogs(const HostCommand& command, client::HostControl& host,
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
  return console.Print(std::string(tail)) ? face::kExitDone : face::kExitFailed;
}

Result<int> Install(const HostCommand& command, client::HostControl& host, face::Console& console) {
  ASSIGN_OR_RETURN(const std::string unit, host.Unit());
  if (command.print) return console.Print(unit) ? face::kExitDone : face::kExitFailed;
  console.Say(
      "stet: nothing is installed by itself. To have systemd run the host:\n"
      "  stet host install --print > ~/.config/systemd/user/stet.service\n"
      "  systemctl --user enable --now stet.service");
  return face::kExitUsage;
}

Result<int> RunTokens(const HostCommand& command, client::HostControl& host,
                      face::Console& console) {
  if (command.token_verb == "rm") {
    RETURN_IF_ERROR(host.RevokeToken(command.name));
    return face::kExitDone;
  }
  if (command.token_verb == "add") {
    const std::vector<std::string> usual = {"view", "send", "approve"};
    ASSIGN_OR_RETURN(const std::string token,
                     host.AddToken(command.name, command.rights.empty() ? usual : command.rights));
    console.Say("stet: the token is shown this once; every program that has it may connect");
    return console.Print(token + "\n") ? face::kExitDone : face::kExitFailed;
  }
  ASSIGN_OR_RETURN(const protocol::TokenRows rows, host.Tokens());
  std::string text;
  if (command.json) {
    text = Encode(rows) + "\n";
  } else {
    for (const protocol::TokenRow& row : rows)
      text += PrintableText(fmt::format("{}  {}", row.name, fmt::join(row.rights, ","))) + "\n";
  }
  return console.Print(text) ? face::kExitDone : face::kExitFailed;
}

}  // namespace

Result<int> RunHost(const HostCommand& command, client::HostControl& host, face::Console& console) {
  if (command.verb == "serve") {
    RETURN_IF_ERROR(host.Serve(LaunchOf(command)));
    return face::kExitDone;
  }
  if (command.verb == "start") return Start(command, host, console);
  if (command.verb == "status") return ShowStatus(command, host, console);
  if (command.verb == "logs") return ShowLogs(command, host, console);
  if (command.verb == "install") return Install(command, host, console);
  if (command.verb == "token") return RunTokens(command, host, console);
  if (command.verb == "reset") {
    RETURN_IF_ERROR(host.Reset());
    return face::kExitDone;
  }
  ASSIGN_OR_RETURN(const bool stopped, host.Stop());
  console.Say(stopped ? "stet: the host has stopped" : "stet: no host runs");
  return face::kExitDone;
}

}  // namespace stet::cli
