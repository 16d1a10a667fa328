#include "device/project_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "device/trust.h"
#include "policy/rule.h"
#include "provider/catalogue.h"

namespace stet::device {
namespace {

using config::ModelSettings;
using config::Settings;

/// What `over` says counts; what it does not say stays.
template <Described T>
void LayOver(T& under, const T& over) {
  const auto lay = [&](const auto& field) {
    if (over.*field.member) under.*field.member = over.*field.member;
  };
  std::apply([&](const auto&... field) { (lay(field), ...); }, T::Fields());
}

/// "$NAME", "vault:NAME"; empty: none of its own.
std::string KeyOf(const ModelSettings& model) {
  if (model.api_key_vault) return "vault:" + *model.api_key_vault;
  return model.api_key_env ? "$" + *model.api_key_env : "";
}

/// Whether the user has named this key for this host, or it is the key of a built-in provider
/// there.
bool IsKnownKey(const Settings& user, const std::string& key, std::string_view host) {
  const auto same = [&](const ModelSettings& model) {
    return KeyOf(model) == key && policy::HostOf(model.base_url.value_or("")) == host;
  };
  const auto named = [&](const auto& model) { return same(model.second); };
  return (user.model && same(*user.model)) || std::ranges::any_of(user.models, named) ||
         std::ranges::any_of(user.roles, named) ||
         std::ranges::any_of(provider::Providers(), [&](const provider::ProviderFacts& facts) {
           return fmt::format("${}", facts.key_variable) == key &&
                  policy::HostOf(facts.base_url) == host;
         });
}

Status CheckKey(const Settings& user, const ModelSettings& model) {
  const std::string key = KeyOf(model);
  if (key.empty()) return {};
  const provider::ProviderFacts* facts = provider::FindProvider(model.provider.value_or(""));
  const std::string url = model.base_url.value_or(std::string(facts ? facts->base_url : ""));
  const std::string_view host = policy::HostOf(url);
  if (IsKnownKey(user, key, host)) return {};
  return Fail(Code::kDenied,
              fmt::format("the project wants the key {} sent to {}: say so in your own config.toml "
                          "if you want that too",
                          key, host.empty() ? "a host it does not name" : host));
}

Status CheckKeys(const Settings& user, const Settings& own) {
  if (own.model) RETURN_IF_ERROR(CheckKey(user, *own.model));
  for (const auto* models : {&own.models, &own.roles}) {
    for (const auto& [name, model] : *models) RETURN_IF_ERROR(CheckKey(user, model));
  }
  return {};
}

void LayModels(Settings& all, const Settings& own) {
  if (own.model) all.model = own.model;
  for (const auto& [name, model] : own.models) all.models[name] = model;
  for (const auto& [role, model] : own.roles) all.roles[role] = model;
}

}  // namespace

Result<LayeredSettings> ReadLayeredSettings(const config::Roots& roots,
                                            const std::string& project) {
  LayeredSettings out;
  ASSIGN_OR_RETURN(out.all, config::ReadSettings(roots.settings()));
  ASSIGN_OR_RETURN(out.trust, ReadTrust(roots, project));
  if (std::ranges::none_of(out.trust.parts, &protocol::TrustRow::trusted)) return out;
  ASSIGN_OR_RETURN(Settings own, config::ReadProjectSettings(project + "/.stet/config.toml"));
  if (Trusts(out.trust, "config")) {
    out.own.policy = own.policy;
    LayOver(out.all.instructions, own.instructions);
    LayOver(out.all.tools, own.tools);
    LayOver(out.all.context, own.context);
    if (own.context.threshold) out.all.threshold_permille = own.threshold_permille;
  }
  if (Trusts(out.trust, "model")) {
    RETURN_IF_ERROR(CheckKeys(out.all, own));
    LayModels(out.all, own);
  }
  return out;
}

std::string TrustNote(const protocol::TrustReport& report) {
  std::string waiting;
  for (const protocol::TrustRow& row : report.parts) {
    if (row.what.empty() || row.trusted) continue;
    if (!waiting.empty()) waiting += "; ";
    waiting += row.what;
  }
  if (waiting.empty()) return "";
  return fmt::format(
      "this project brings things that act ({}), and {}: nothing of it is used unasked. "
      "`stet trust` shows and allows it",
      waiting, report.changed ? "they have changed since they were trusted" : "is not trusted");
}

}  // namespace stet::device
