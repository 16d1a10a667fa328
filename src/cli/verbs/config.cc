// `stet config`: what is configured, where it comes from, and whether it is right.
#include <fmt/format.h>

#include "base/display_width.h"
#include "base/secrets.h"
#include "cli/verb.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

struct ConfigArguments {
  bool json = false;
};

Result<int> ShowConfig(const ConfigArguments& command, client::Device& device,
                       face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::ConfigReport report,
                   client::Await(device, &client::Device::Config));
  if (command.json)
    return console.PrintJson(Encode(report) + "\n") ? face::kExitDone : face::kExitFailed;
  std::string out;
  for (const protocol::SettingRow& row : report.settings)
    out += fmt::format("{:<28} = {}  {}\n", PrintableText(row.key),
                       PrintableText(MaskSecrets(row.value)),
                       console.Styled(face::Style::kDim, "# " + PrintableText(row.source)));
  return console.Print(out) ? face::kExitDone : face::kExitFailed;
}

Result<int> CheckConfig(const ConfigArguments&, client::Device& device, face::Console& console) {
  ASSIGN_OR_RETURN(const protocol::ConfigReport report,
                   client::Await(device, &client::Device::Config));
  const std::string text = report.exists
                               ? fmt::format("{} is right\n", report.path)
                               : fmt::format("there is no {}: the defaults hold\n", report.path);
  return console.PrintText(text) ? face::kExitDone : face::kExitFailed;
}

Result<int> PrintConfigPath(const ConfigArguments&, client::Device& device,
                            face::Console& console) {
  ASSIGN_OR_RETURN(const std::string path, client::Await(device, &client::Device::ConfigPath));
  return console.PrintText(path + "\n") ? face::kExitDone : face::kExitFailed;
}

}  // namespace

VerbEntry ConfigVerb() {
  return {"config", "Show and check the configuration", [](Verb& config) {
            const auto given = std::make_shared<ConfigArguments>();
            constexpr auto kDevice = &face::Clients::device;
            config.verbs = {
                {.name = "show",
                 .help = "The settings in force, and where each comes from",
                 .options = {JsonFlag(given->json)},
                 .run = Asks<kDevice>(given, ShowConfig)},
                {.name = "check",
                 .help = "Whether the file is right; else where it is not",
                 .run = Asks<kDevice>(given, CheckConfig)},
                {.name = "path",
                 .help = "Where the file is",
                 .run = Asks<kDevice>(given, PrintConfigPath)},
            };
          }};
}

}  // namespace stet::cli
