#include "cli/verbs/setup.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include "base/display_width.h"
#include "client/await.h"
#include "face/exit_codes.h"

namespace stet::cli {
namespace {

/// A line of stdin; kInvalid when there is none left.
Result<std::string> Ask(const std::string& question, face::Console& console) {
  console.Say(question);
  std::string line;
  if (!std::getline(std::cin, line))
    return Fail(
        Code::kInvalid,
        "there is no answer: type one, pipe it in, or give it as a flag (`stet setup --help`)");
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return std::string();
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// What `said` means among `names`: a number in the list, or the name itself; `first` when empty.
std::string Meant(const std::string& said, const std::vector<std::string>& names) {
  if (said.empty()) return names.empty() ? "" : names.front();
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), number);
  const bool is_number = error == std::errc() && end == said.data() + said.size();
  return is_number && number >= 1 && number <= names.size() ? names[number - 1] : said;
}

class Setup {
 public:
  Setup(const SetupArguments& command, client::Models& models, client::Device& device,
        face::Console& console)
      : command_(command), models_(models), device_(device), console_(console) {}

  Result<int> Run() {
    ASSIGN_OR_RETURN(list_, client::Await(models_, &client::Models::List));
    ASSIGN_OR_RETURN(config_path_, client::Await(device_, &client::Device::ConfigPath));
    RETURN_IF_ERROR(ChooseProvider());
    RETURN_IF_ERROR(ChooseId());
    RETURN_IF_ERROR(ChooseKey());
    ASSIGN_OR_RETURN(const bool saved, Save());
    if (!saved) {
      console_.Say("Nothing was changed.");
      return face::kExitFailed;
    }
    console_.Say(fmt::format("Written: {}", config_path_));
    return Try();
  }

 private:
  Status ChooseProvider() {
    std::vector<std::string> names;
    std::string rows = "Which provider?\n";
    for (const protocol::ProviderRow& row : list_.providers) {
      names.push_back(row.name);
      rows += fmt::format("{:>3}  {:<12} {}{}\n", names.size(), row.name, row.key_variable,
                          row.key_present ? " (is set)"
                          : row.local     ? " (only if it needs one)"
                                          : "");
    }
    std::string said = command_.provider;
    if (said.empty()) {
      if (command_.yes) return Fail(Code::kInvalid, "--yes needs --provider");
      ASSIGN_OR_RETURN(said, Ask(rows + "Its number or name:", console_));
    }
    choice_.provider = Meant(said, names);
    const auto found =
        std::ranges::find(list_.providers, choice_.provider, &protocol::ProviderRow::name);
    if (found == list_.providers.end())
      return Fail(Code::kInvalid,
                  fmt::format("there is no provider {}: `stet models` lists them, and type = "
                              "\"custom\" in {} describes any other",
                              choice_.provider, config_path_));
    provider_ = *found;
    return {};
  }

  Status ChooseId() {
    std::vector<std::string> ids;
    std::string rows = "Which model?\n";
    for (const protocol::ModelRow& row : list_.models) {
      if (row.provider != choice_.provider || row.configured) continue;
      ids.push_back(row.id);
      rows += fmt::format("{:>3}  {:<32} {}\n", ids.size(), row.id, row.title);
    }
    std::string said = command_.model;
    if (said.empty() && (!command_.yes || ids.empty())) {
      ASSIGN_OR_RETURN(said, Ask(rows + "Its number or id:", console_));
    }
    choice_.id = Meant(said, ids);
    if (choice_.id.empty())
      return Fail(Code::kInvalid, "a model needs an id: give it with --model");
    return {};
  }

  /// Keys themselves are never written to a file.
  Status ChooseKey() {
    key_variable_ = command_.key_variable.empty() ? provider_.key_variable : command_.key_variable;
    if (command_.key_variable.empty() && !command_.yes && command_.provider.empty()) {
      ASSIGN_OR_RETURN(
          const std::string said,
          Ask(fmt::format("Which environment variable has the key? (nothing: {})", key_variable_),
              console_));
      if (!said.empty()) key_variable_ = said;
    }
    if (key_variable_ != provider_.key_variable) choice_.api_key_env = key_variable_;
    return {};
  }

  /// False when the user keeps what is there.
  Result<bool> Save() {
    Status saved = client::Await(device_, &client::Device::ChooseModel, choice_, command_.yes);
    if (!saved && saved.error().code == Code::kConflict) {
      ASSIGN_OR_RETURN(const std::string said,
                       Ask(saved.error().message +
                               ". Replace it? The file before is kept as config.toml.old. [y/N]",
                           console_));
      if (said != "y" && said != "Y" && said != "yes") return false;
      saved = client::Await(device_, &client::Device::ChooseModel, choice_, true);
    }
    if (!saved) return std::unexpected(saved.error());
    return true;
  }

  Result<int> Try() {
    ASSIGN_OR_RETURN(const protocol::ModelList now, client::Await(models_, &client::Models::List));
    if (now.problem) {
      console_.Say(
          fmt::format("The key comes from the environment. In your shell's profile:\n\n"
                      "    export {}=...\n\nThen `stet doctor` says whether all is well.",
                      key_variable_));
      return face::kExitDone;
    }
    console_.Say(fmt::format("Asking {} one short question ...", now.selected));
    ASSIGN_OR_RETURN(
        const protocol::ModelCheck check,
        client::Await(models_, &client::Models::Check, "",
                      [&](const std::string& text) { console_.Say(PrintableText(text)); }));
    if (check.ok) {
      console_.Say(
          fmt::format("It answers, after {} ms. `stet` starts a conversation.", check.total_ms));
      return face::kExitDone;
    }
    console_.Say(fmt::format("It does not answer: {}: {}", check.failure.value_or(""),
                             PrintableText(check.message.value_or(""))));
    return check.failure == "auth" ? face::kExitAuth : face::kExitFailed;
  }

  const SetupArguments& command_;
  client::Models& models_;
  client::Device& device_;
  face::Console& console_;
  std::string config_path_;
  protocol::ModelList list_;
  protocol::ProviderRow provider_;
  protocol::ModelChoice choice_;
  std::string key_variable_;
};

}  // namespace

Result<int> RunSetup(const SetupArguments& command, client::Models& models, client::Device& device,
                     face::Console& console) {
  const Result<int> done = Setup(command, models, device, console).Run();
  if (done || done.error().code != Code::kInvalid) return done;
  console.Say("stet: " + done.error().Text());
  return face::kExitUsage;
}

std::function<Result<int>(const VerbEnvironment&)> SetsUp(std::shared_ptr<SetupArguments> given) {
  return [given = std::move(given)](const VerbEnvironment& with) -> Result<int> {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Device> device, with.clients.device());
    ASSIGN_OR_RETURN(const std::unique_ptr<client::Models> models, with.clients.models());
    return RunSetup(*given, *models, *device, with.console);
  };
}

VerbEntry SetupVerb() {
  return {"setup", "Choose the model to use, and try it", [](Verb& setup) {
            const auto given = std::make_shared<SetupArguments>();
            setup.options = {
                {"--provider", &given->provider, "The provider (see `stet models`)"},
                {"--model", &given->model, "The model's id"},
                {"--key-variable", &given->key_variable,
                 "The environment variable with the key, when it is not the provider's own"},
                {"-y,--yes", &given->yes, "Do not ask: take the defaults, replace what is there"},
            };
            setup.run = SetsUp(given);
          }};
}

}  // namespace stet::cli
