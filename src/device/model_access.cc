#include "device/model_access.h"

#include <cstdlib>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/random.h"
#include "device/vault.h"
#include "provider/catalogue.h"
#include "provider/http_provider.h"
#include "provider/offline/offline.h"

namespace stet::device {

std::unique_ptr<provider::Provider> ModelAccess::Open(provider::Selected selected) {
  if (selected.offline()) return std::make_unique<provider::OfflineProvider>(ProcessRandom());
  const provider::Surroundings surroundings{
      .http = http_, .clock = SystemClock(), .random = ProcessRandom()};
  return std::make_unique<provider::HttpProvider>(loop_, surroundings, std::move(selected.access),
                                                  std::move(selected.fallback), selected.retry);
}

std::string ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::vector<std::string> KeyVariables(const config::Settings& settings) {
  std::vector<std::string> names;
  for (const provider::ProviderFacts& facts : provider::Providers())
    names.emplace_back(facts.key_variable);
  const auto add = [&](const config::ModelSettings& model) {
    if (model.api_key_env) names.push_back(*model.api_key_env);
  };
  if (settings.model) add(*settings.model);
  for (const auto* models : {&settings.models, &settings.roles}) {
    for (const auto& [name, model] : *models) add(model);
  }
  return names;
}

provider::Environment KeyLookup(const config::Roots& roots,
                                std::shared_ptr<const Environment> environment) {
  return [roots, environment = std::move(environment)](const std::string& name) -> std::string {
    constexpr std::string_view kVault = "vault:";
    if (!name.starts_with(kVault))
      return environment ? environment->Get(name) : ProcessEnvironment(name);
    const Result<std::string> value = Vault(roots).Get(name.substr(kVault.size()));
    if (!value && value.error().code != Code::kNotFound)
      STET_LOG(kWarn, "the vault: {}", value.error().Text());
    return value.value_or("");
  };
}

}  // namespace stet::device
