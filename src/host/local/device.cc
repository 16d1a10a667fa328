#include "host/local/device.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/instructions.h"
#include "base/fs.h"
#include "config/settings.h"
#include "config/toml.h"
#include "device/hook_sources.h"
#include "device/sandbox_run.h"
#include "device/trust.h"
#include "device/vault.h"
#include "host/local/beside.h"
#include "json/view.h"
#include "provider/selection.h"

namespace stet::host {
namespace {

using client::Reply;

constexpr std::size_t kMaxFile = std::size_t{1} << 20;
constexpr std::int64_t kBellAfterMs = 10'000;

/// What holds when the file says nothing, for the keys that always have a value.
struct Default {
  std::string_view key;
  std::string_view value;
};
constexpr std::array kDefaults = {
    Default{"log.durability", "\"strict\""},    Default{"policy.mode", "\"default\""},
    Default{"sandbox.network", "\"hosts\""},    Default{"sandbox.required", "false"},
    Default{"tools.taskEndStartsTurn", "true"}, Default{"ui.bellAfterMs", "10000"},
};

/// Every value of the file by its key. What stands in headers may be a secret.
void AddRows(const JsonView& table, const std::string& prefix, const config::TomlText& toml,
             const std::string& path, protocol::SettingRows& rows) {
  table.ForEachMember([&](std::string_view name, const JsonView& value) {
    const std::string key = prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
    if (value.is_object()) return AddRows(value, key, toml, path, rows);
    protocol::SettingRow& row = rows.emplace_back();
    row.key = key;
    row.value = key.contains(".headers.") ? "\"(hidden)\"" : value.text();
    row.source = fmt::format("{}:{}", path, toml.LineOf(key));
  });
}

std::string Quoted(const std::string& text) {
  std::string out;
  AppendJsonString(out, text);  // A JSON string is a basic string of TOML, too.
  return out;
}

std::string ModelTable(const protocol::ModelChoice& choice) {
  std::string table =
      fmt::format("[model]\nprovider = {}\nid = {}\n", Quoted(choice.provider), Quoted(choice.id));
  if (choice.api_key_env) table += fmt::format("apiKeyEnv = {}\n", Quoted(*choice.api_key_env));
  return table;
}

/// The header that a line is: "[model]" -> "model"; empty when it is none.
std::string_view HeaderIn(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] != '[') return "";
  const std::size_t end = line.find(']', begin);
  return end == std::string_view::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

/// The text without the tables of [model], except for its roles.
std::string WithoutModel(std::string_view text) {
  std::string kept;
  bool in_model = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (const std::string_view header = HeaderIn(line); !header.empty())
      in_model =
          header == "model" || (header.starts_with("model.") && !header.starts_with("model.roles"));
    if (!in_model) kept += line;
    text.remove_prefix(end + 1);
  }
  return kept;
}

/// What LocalDevice answers with; blocks on the disk.
class DeviceFiles {
 public:
  explicit DeviceFiles(config::Roots roots) : roots_(std::move(roots)) {}

  Result<protocol::FaceSettings> Face() {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
    protocol::FaceSettings face;
    face.history_file = roots_.data + "/prompts.jsonl";
    face.transcripts = roots_.transcripts();
    ASSIGN_OR_RETURN(face.device_id, config::DeviceId(roots_));
    face.bell_after_ms = settings.ui.bell_after_ms.value_or(kBellAfterMs);
    return face;
  }

  Result<protocol::ConfigReport> Config() {
    protocol::ConfigReport report;
    report.path = roots_.settings();
    report.exists = Exists(report.path);
    config::TomlText toml;
    if (report.exists) {
      ASSIGN_OR_RETURN(const std::string text, ReadFile(report.path, kMaxFile));
      RETURN_IF_ERROR(Validate(text));
      ASSIGN_OR_RETURN(toml, config::ReadToml(text, report.path));
    }
    AddRows(JsonView(toml.json), "", toml, report.path, report.settings);
    const auto add = [&](std::string_view key, std::string_view value) {
      const bool set = std::ranges::any_of(
          report.settings, [&](const protocol::SettingRow& row) { return row.key == key; });
      if (set) return;
      protocol::SettingRow& row = report.settings.emplace_back();
      row.key = key;
      row.value = value;
      row.source = "default";
    };
    for (const Default& one : kDefaults) add(one.key, one.value);
    const bool model = std::ranges::any_of(report.settings, [](const protocol::SettingRow& row) {
      return row.key.starts_with("model.");
    });
    if (!model) add("model.id", "\"offline\"");
    std::ranges::sort(report.settings, {}, &protocol::SettingRow::key);
    return report;
  }

  Result<std::string> ConfigPath() { return roots_.settings(); }

  Result<protocol::HookRows> Hooks(const std::string& folder) {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
    ASSIGN_OR_RETURN(const protocol::TrustReport trust, Trust(folder));
    return device::ListHooks({.user = settings,
                              .user_file = roots_.settings(),
                              .project_file = ProjectOf(folder) + "/.stet/config.toml",
                              .trusted_hooks = device::Trusts(trust, "hooks")});
  }

  Result<protocol::ExtensionRows> Extensions(const std::string& folder) {
    ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots_.settings()));
    ASSIGN_OR_RETURN(const protocol::TrustReport trust, Trust(folder));
    return device::ListExtensions(device::ExtensionsOf(roots_, ProjectOf(folder), settings, trust));
  }

  Status ChooseModel(const protocol::ModelChoice& choice, bool replace) {
    const std::string path = roots_.settings();
    const Result<std::string> read = ReadFile(path, kMaxFile);
    if (!read && read.error().code != Code::kNotFound) return std::unexpected(read.error());
    const std::string before = read.value_or("");
    ASSIGN_OR_RETURN(const config::Settings settings, config::ParseSettings(before, path));
    if (settings.model && !replace)
      return Fail(Code::kConflict, fmt::format("{} has a model already", path));
    std::string after = settings.model ? WithoutModel(before) : before;
    if (!after.empty() && !after.ends_with('\n')) after += '\n';
    after += (after.empty() ? "" : "\n") + ModelTable(choice);
    // A file that is written in a way we do not take apart is left as it is.
    if (const Status fine = Validate(after); !fine)
      return Fail(Code::kInvalid,
                  fmt::format("{} was left as it is: with this model it would not be right: {}. "
                              "Change it by hand",
                              path, fine.error().message));
    RETURN_IF_ERROR(MakeDirs(roots_.config));
    if (settings.model) RETURN_IF_ERROR(ReplaceFile(path + ".old", before, Durable::kYes));
    return ReplaceFile(path, after, Durable::kYes);
  }

  Result<protocol::TrustReport> Trust(const std::string& folder) {
    return device::ReadTrust(roots_, ProjectOf(folder));
  }

  Status SetTrust(const std::string& folder, const std::vector<std::string>& parts) {
    return device::SetTrust(roots_, ProjectOf(folder), parts);
  }

  Result<protocol::VaultReport> Vault() {
    protocol::VaultReport report;
    const device::Vault vault(roots_);
    ASSIGN_OR_RETURN(report.names, vault.Names());
    ASSIGN_OR_RETURN(report.key_place, vault.KeyPlace());
    return report;
  }

  Result<std::string> VaultValue(const std::string& name) {
    return device::Vault(roots_).Get(name);
  }
  Status SetVault(const std::string& name, const std::string& value) {
    return device::Vault(roots_).Set(name, value);
  }
  Status RemoveVault(const std::string& name) { return device::Vault(roots_).Remove(name); }

  Result<protocol::CheckRows> Examine() { return ExamineDevice(roots_); }

 private:
  static std::string ProjectOf(const std::string& folder) {
    std::string root = agent::GitRoot(folder);
    return root.empty() ? folder : root;
  }

  /// The keys, and that the models in it can be made out.
  [[nodiscard]] Status Validate(std::string_view text) const {
    ASSIGN_OR_RETURN(const config::Settings settings,
                     config::ParseSettings(text, roots_.settings()));
    if (settings.model) RETURN_IF_ERROR(provider::ConfiguredModel(*settings.model, "model"));
    for (const auto& [name, model] : settings.models)
      RETURN_IF_ERROR(provider::ConfiguredModel(model, "models." + name));
    for (const auto& [role, model] : settings.roles)
      RETURN_IF_ERROR(provider::ConfiguredModel(model, "model.roles." + role));
    return {};
  }

  config::Roots roots_;
};

class LocalDevice final : public client::Device {
 public:
  explicit LocalDevice(const config::Roots& roots) : roots_(roots), files_(DeviceFiles(roots)) {}

  Result<protocol::SandboxEnd> RunSandboxed(const protocol::SandboxRun& run) override {
    return device::RunSandboxed(roots_, run);
  }

  void Face(Reply<protocol::FaceSettings> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Face);
  }
  void Config(Reply<protocol::ConfigReport> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Config);
  }
  void ConfigPath(Reply<std::string> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::ConfigPath);
  }
  void Hooks(const std::string& folder, Reply<protocol::HookRows> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Hooks, folder);
  }
  void Extensions(const std::string& folder, Reply<protocol::ExtensionRows> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Extensions, folder);
  }
  void ChooseModel(const protocol::ModelChoice& choice, bool replace, Reply<void> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::ChooseModel, choice, replace);
  }
  void Trust(const std::string& folder, Reply<protocol::TrustReport> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Trust, folder);
  }
  void SetTrust(const std::string& folder, const std::vector<std::string>& parts,
                Reply<void> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::SetTrust, folder, parts);
  }
  void Vault(Reply<protocol::VaultReport> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Vault);
  }
  void VaultValue(const std::string& name, Reply<std::string> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::VaultValue, name);
  }
  void SetVault(const std::string& name, const std::string& value, Reply<void> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::SetVault, name, value);
  }
  void RemoveVault(const std::string& name, Reply<void> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::RemoveVault, name);
  }
  void Examine(Reply<protocol::CheckRows> reply) override {
    files_.Run(std::move(reply), &DeviceFiles::Examine);
  }

 private:
  const config::Roots roots_;
  Beside<DeviceFiles> files_;
};

}  // namespace

std::unique_ptr<client::Device> MakeLocalDevice(config::Roots roots) {
  return std::make_unique<LocalDevice>(std::move(roots));
}

}  // namespace stet::host
