// `stet extensions`: which extensions there are, where each is from, whether it runs, and what it
// registers.
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/display_width.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct ExtensionsArguments {
  std::string cwd;  // The folder whose sessions are meant; empty: this one.
  bool json = false;
};

std::string_view StateOf(const protocol::ExtensionRow& row) {
  if (row.active) return "on";
  if (row.disabled) return "off: disabled in the configuration";
  return row.trusted ? "off: the project has its own of that id"
                     : "off: the project is not trusted";
}

void Add(std::string& text, std::string_view what, const std::vector<std::string>& names) {
  if (!names.empty()) text += fmt::format("  {:<11} {}\n", what, fmt::join(names, ", "));
}

/// A few lines for each; a sentence when there is none.
std::string ExtensionsText(const protocol::ExtensionRows& rows) {
  if (rows.empty()) return "No extensions are installed, for the user or in this folder.\n";
  std::string text;
  for (const protocol::ExtensionRow& row : rows) {
    if (row.problem) {
      text += fmt::format("cannot be used: {}\n", OneLineText(*row.problem));
      continue;
    }
    text += fmt::format("{} {} ({})  {}  # {}\n", row.id, row.version, OneLineText(row.name),
                        StateOf(row), row.source);
    Add(text, "tools", row.tools);
    Add(text, "commands", row.commands);
    Add(text, "events", row.events);
    Add(text, "intercepts", row.intercepts);
  }
  return PrintableText(text);
}

Result<int> RunExtensions(const ExtensionsArguments& command, client::Device& device,
                          face::Console& console) {
  std::error_code error;
  const std::string here =
      std::filesystem::canonical(command.cwd.empty() ? "." : command.cwd, error);
  if (error) return Fail(Code::kNotFound, fmt::format("there is no folder {}", command.cwd));
  ASSIGN_OR_RETURN(const protocol::ExtensionRows rows,
                   client::Await(device, &client::Device::Extensions, here));
  const bool told =
      command.json ? console.PrintJson(Encode(rows) + "\n") : console.Print(ExtensionsText(rows));
  return told ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry ExtensionsVerb() {
  return {"extensions", "Show the extensions there are", [](Verb& extensions) {
            const auto given = std::make_shared<ExtensionsArguments>();
            extensions.verbs = {
                {.name = "ls",
                 .help = "List them: where each comes from, whether it runs, and what it registers",
                 .options = {{"FOLDER", &given->cwd,
                              "The folder whose sessions are meant; this one by default"},
                             JsonFlag(given->json)},
                 .run = Asks<&face::Clients::device>(given, RunExtensions)},
            };
          }};
}

}  // namespace stet::cli
