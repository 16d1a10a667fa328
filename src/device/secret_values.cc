#include "device/secret_values.h"

#include <algorithm>
#include <array>
#include <map>

#include "device/model_access.h"
#include "device/vault.h"
#include "json/view.h"

namespace stet::device {
namespace {

using Values = std::map<std::string, std::string>;

/// Headers with these in their names carry secrets; others carry versions and the like.
constexpr std::array<std::string_view, 7> kSecretHeaders = {"auth",   "key",    "token",   "secret",
                                                            "cookie", "passwd", "password"};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

/// "Bearer SECRET": what stands behind the scheme is one as well.
void AddHeader(std::string_view name, const std::string& value, Values& values) {
  const std::string lower = LowerCase(name);
  if (std::ranges::none_of(kSecretHeaders,
                           [&](std::string_view part) { return lower.contains(part); }))
    return;
  const std::string label = "header:" + std::string(name);
  const std::size_t blank = value.rfind(' ');
  values[label] = blank == std::string::npos ? value : value.substr(blank + 1);
}

void AddHeaders(const config::ModelSettings& model, Values& values) {
  if (!model.headers) return;
  JsonView(model.headers->text).ForEachMember([&](std::string_view name, const JsonView& value) {
    AddHeader(name, value.StringOr(""), values);
  });
}

}  // namespace

Result<agent::Redactor> RedactorOf(const SecretSources& sources) {
  Values values;
  for (const std::string& name : sources.key_variables) {
    if (const std::string value = sources.environment.Get(name); !value.empty())
      values["env:" + name] = value;
  }
  const config::Settings& settings = sources.settings;
  if (settings.model) AddHeaders(*settings.model, values);
  for (const auto* models : {&settings.models, &settings.roles}) {
    for (const auto& [name, model] : *models) AddHeaders(model, values);
  }
  ASSIGN_OR_RETURN(const Values kept, Vault(sources.roots).Read());
  for (const auto& [name, value] : kept) values["vault:" + name] = value;
  return agent::Redactor(values);
}

Result<agent::Redactor> RedactorOf(const config::Roots& roots) {
  ASSIGN_OR_RETURN(const config::Settings settings, config::ReadSettings(roots.settings()));
  const Environment environment = Environment::OfProcess();
  const std::vector<std::string> names = KeyVariables(settings);
  return RedactorOf(
      {.roots = roots, .settings = settings, .environment = environment, .key_variables = names});
}

}  // namespace stet::device
