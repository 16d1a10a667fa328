// `stet trust`: what the project here brings that acts, and what of it may.
#include <filesystem>

#include <fmt/format.h>

#include "base/display_width.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct TrustArguments {
  std::vector<std::string> parts;
  bool all = false;
  bool none = false;
  std::string cwd;
  bool json = false;
};

std::string Text(const protocol::TrustReport& report, const face::Console& console) {
  std::string text;
  for (const protocol::TrustRow& row : report.parts) {
    if (row.what.empty()) continue;
    text += fmt::format("{}  {:<11} {}\n",
                        row.trusted ? console.Styled(face::Style::kGreen, "trusted    ")
                                    : console.Styled(face::Style::kYellow, "not trusted"),
                        row.part, PrintableText(row.what));
  }
  if (text.empty()) return "the project brings nothing that acts\n";
  if (report.changed) text += "It has changed since it was trusted: look at it again.\n";
  return text + "`stet trust PART...` or `stet trust --all` allows it, `--none` takes that back\n";
}

Result<int> RunTrust(const TrustArguments& command, client::Device& device,
                     face::Console& console) {
  std::error_code error;
  const std::string given = command.cwd.empty() ? "." : command.cwd;
  const std::string folder = std::filesystem::canonical(given, error);
  if (error) return Fail(Code::kInvalid, fmt::format("--cwd: there is no folder {}", given));
  std::vector<std::string> parts = command.parts;
  if (command.all) {
    ASSIGN_OR_RETURN(const protocol::TrustReport now,
                     client::Await(device, &client::Device::Trust, folder));
    for (const protocol::TrustRow& row : now.parts)
      if (!row.what.empty()) parts.push_back(row.part);
  }
  if (!parts.empty() || command.none)
    RETURN_IF_ERROR(client::Await(device, &client::Device::SetTrust, folder, parts));
  ASSIGN_OR_RETURN(const protocol::TrustReport report,
                   client::Await(device, &client::Device::Trust, folder));
  const bool told = command.json ? console.PrintJson(Encode(report) + "\n")
                                 : console.Print(Text(report, console));
  return told ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry TrustVerb() {
  return {"trust", "Show what the project here brings that acts, and say what of it may",
          [](Verb& trust) {
            const auto given = std::make_shared<TrustArguments>();
            trust.options = {
                {.names = "PART",
                 .target = &given->parts,
                 .help = "config, model, hooks, extensions, mcp or git",
                 .check = OneOf{"config", "model", "hooks", "extensions", "mcp", "git"}},
                {"--all", &given->all, "Trust all that it brings"},
                {.names = "--none",
                 .target = &given->none,
                 .help = "Trust nothing of it any longer",
                 .excludes = "--all"},
                {"--cwd", &given->cwd, "The project's folder, instead of the current one"},
                JsonFlag(given->json),
            };
            trust.run = Asks<&face::Clients::device>(given, RunTrust);
          }};
}

}  // namespace stet::cli
