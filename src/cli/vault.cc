#include "cli/vault.h"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/text_width.h"
#include "cli/exit_codes.h"
#include "client/await.h"

namespace stet::cli {
namespace {

constexpr std::size_t kMaxValue = std::size_t{64} << 10;

/// Nothing that is typed is shown while this lives.
class Unseen {
 public:
  Unseen() : changed_(::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!changed_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
  ~Unseen() {
    if (changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool changed_;
};

/// A line from a terminal; all of stdin, without a last line end, from anything else.
Result<std::string> ReadValue(const std::string& name, Terminal& terminal) {
  const bool typed = ::isatty(STDIN_FILENO) == 1;
  if (typed) terminal.Say(fmt::format("the value of {} (it is not shown):", name));
  const Unseen unseen;
  std::string value;
  int byte = 0;
  while ((byte = std::getchar()) != EOF && !(typed && byte == '\n')) {
    value.push_back(static_cast<char>(byte));
    if (value.size() > kMaxValue) return Fail(Code::kInvalid, "the value is longer than 64 KB");
  }
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  return value;
}

Result<int> Get(const VaultCommand& command, client::Device& device, Terminal& terminal) {
  ASSIGN_OR_RETURN(const std::string value,
                   client::Await(device, &client::Device::VaultValue, command.name));
  if (!command.reveal) {
    const std::string text =
        fmt::format("{} is there, {} bytes; --reveal prints it\n", command.name, value.size());
    return terminal.Print(text) ? kExitDone : kExitFailed;
  }
  if (terminal.stdout_is_terminal())
    terminal.Say("stet: the secret stands on your screen now, and in what it remembers");
  return terminal.Print(value + "\n") ? kExitDone : kExitFailed;
}

Result<int> List(const VaultCommand& command, client::Device& device, Terminal& terminal) {
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  std::string text;
  if (command.json) {
    text = Encode(report) + "\n";
  } else {
    for (const std::string& name : report.names) text += PrintableText(name) + "\n";
  }
  return terminal.Print(text) ? kExitDone : kExitFailed;
}

}  // namespace

Result<int> RunVault(const VaultCommand& command, client::Device& device, Terminal& terminal) {
  if (command.verb == "get") return Get(command, device, terminal);
  if (command.verb == "ls") return List(command, device, terminal);
  if (command.verb == "rm") {
    RETURN_IF_ERROR(client::Await(device, &client::Device::RemoveVault, command.name));
    return kExitDone;
  }
  ASSIGN_OR_RETURN(const std::string value, ReadValue(command.name, terminal));
  RETURN_IF_ERROR(client::Await(device, &client::Device::SetVault, command.name, value));
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  terminal.Say(fmt::format("stet: {} is kept; the key of the vault is in {}", command.name,
                           PrintableText(report.key_place)));
  return kExitDone;
}

}  // namespace stet::cli
