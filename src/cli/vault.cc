#include "cli/vault.h"

#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/text_width.h"
#include "client/await.h"
#include "face/exit_codes.h"

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
Result<std::string> ReadValue(const std::string& name, face::Console& console) {
  const bool typed = ::isatty(STDIN_FILENO) == 1;
  if (typed) console.Say(fmt::format("the value of {} (it is not shown):", name));
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

Result<int> Get(const VaultCommand& command, client::Device& device, face::Console& console) {
  ASSIGN_OR_RETURN(const std::string value,
                   client::Await(device, &client::Device::VaultValue, command.name));
  if (!command.reveal) {
    const std::string text =
        fmt::format("{} is there, {} bytes; --reveal prints it\n", command.name, value.size());
    return console.Print(text) ? face::kExitDone : face::kExitFailed;
  }
  if (console.stdout_is_terminal())
    console.Say("stet: the secret stands on your screen now, and in what it remembers");
  return console.Print(value + "\n") ? face::kExitDone : face::kExitFailed;
}

Result<int> List(const VaultCommand& command, client::Device& device, face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  std::string text;
  if (command.json) {
    text = Encode(report) + "\n";
  } else {
    for (const std::string& name : report.names) text += PrintableText(name) + "\n";
  }
  return console.Print(text) ? face::kExitDone : face::kExitFailed;
}

}  // namespace

Result<int> RunVault(const VaultCommand& command, client::Device& device, face::Console& console) {
  if (command.verb == "get") return Get(command, device, console);
  if (command.verb == "ls") return List(command, device, console);
  if (command.verb == "rm") {
    RETURN_IF_ERROR(client::Await(device, &client::Device::RemoveVault, command.name));
    return face::kExitDone;
  }
  ASSIGN_OR_RETURN(const std::string value, ReadValue(command.name, console));
  RETURN_IF_ERROR(client::Await(device, &client::Device::SetVault, command.name, value));
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  console.Say(fmt::format("stet: {} is kept; the key of the vault is in {}", command.name,
                          PrintableText(report.key_place)));
  return face::kExitDone;
}

}  // namespace stet::cli
