// `stet vault`: secrets by name. A value is shown only to who asks for it in so many words.
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/display_width.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct VaultArguments {
  std::string name;
  bool reveal = false;
  bool json = false;
};

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
  while ((byte = std::getchar()) != EOF && (!typed || byte != '\n')) {
    value.push_back(static_cast<char>(byte));
    if (value.size() > kMaxValue) return Fail(Code::kInvalid, "the value is longer than 64 KB");
  }
  if (value.ends_with('\n')) value.pop_back();
  if (value.ends_with('\r')) value.pop_back();
  return value;
}

Result<int> GetSecret(const VaultArguments& command, client::Device& device,
                      face::Console& console) {
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

Result<int> ListSecrets(const VaultArguments& command, client::Device& device,
                        face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  if (command.json)
    return console.PrintJson(Encode(report) + "\n") ? face::kExitDone : face::kExitFailed;
  std::string text;
  for (const std::string& name : report.names) text += PrintableText(name) + "\n";
  return console.Print(text) ? face::kExitDone : face::kExitFailed;
}

Result<int> RemoveSecret(const VaultArguments& command, client::Device& device, face::Console&) {
  RETURN_IF_ERROR(client::Await(device, &client::Device::RemoveVault, command.name));
  return face::kExitDone;
}

Result<int> SetSecret(const VaultArguments& command, client::Device& device,
                      face::Console& console) {
  ASSIGN_OR_RETURN(const std::string value, ReadValue(command.name, console));
  RETURN_IF_ERROR(client::Await(device, &client::Device::SetVault, command.name, value));
  ASSIGN_OR_RETURN(const protocol::VaultReport report,
                   client::Await(device, &client::Device::Vault));
  console.Say(fmt::format("stet: {} is kept; the key of the vault is in {}", command.name,
                          PrintableText(report.key_place)));
  return face::kExitDone;
}

}  // namespace

VerbEntry VaultVerb() {
  return {"vault", "Keep keys and other secrets, by name", [](Verb& vault) {
            const auto given = std::make_shared<VaultArguments>();
            const Option name{.names = "NAME",
                              .target = &given->name,
                              .help = "What the secret is called",
                              .required = true};
            const Option reveal{"--reveal", &given->reveal, "Print the value itself"};
            constexpr auto kDevice = &face::Clients::device;
            vault.verbs = {
                {.name = "set",
                 .help = "Keep a secret; its value is read from stdin, or typed unseen",
                 .options = {name},
                 .run = Asks<kDevice>(given, SetSecret)},
                {.name = "get",
                 .help = "Whether it is there; with --reveal, print it",
                 .options = {name, reveal},
                 .run = Asks<kDevice>(given, GetSecret)},
                {.name = "ls",
                 .help = "The names of what is kept",
                 .options = {JsonFlag(given->json)},
                 .run = Asks<kDevice>(given, ListSecrets)},
                {.name = "rm",
                 .help = "Forget a secret",
                 .options = {name},
                 .run = Asks<kDevice>(given, RemoveSecret)},
            };
          }};
}

}  // namespace stet::cli
