#include "provider/selection.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "provider/catalogue.h"

namespace stet::provider {
namespace {

using config::ModelSettings;
using std::chrono::milliseconds;

Error Wrong(std::string_view where, std::string_view what) {
  return {Code::kInvalid, fmt::format("[{}] in config.toml: {}", where, what)};
}

/// Waits are added to the time of day: a huge configured wait must not overflow the sum.
milliseconds Bounded(std::int64_t wait_ms) {
  constexpr milliseconds kLongest = std::chrono::days(30);
  return std::min(milliseconds(wait_ms), kLongest);
}

void Set(milliseconds& clock, const config::Int& value) {
  if (value && *value > 0) clock = Bounded(*value);
}

void ApplyClocks(Clocks& clocks, const config::ClockSettings& settings) {
  Set(clocks.connect, settings.connect_ms);
  Set(clocks.first_byte, settings.first_byte_ms);
  Set(clocks.idle_warn, settings.idle_warn_ms);
  Set(clocks.idle_fail, settings.idle_fail_ms);
  if (settings.whole_ms && *settings.whole_ms > 0) clocks.whole = Bounded(*settings.whole_ms);
}

RetryPolicy PolicyOf(const ModelSettings& settings) {
  RetryPolicy policy;
  if (!settings.retry) return policy;
  const config::RetrySettings& retry = *settings.retry;
  const auto count = [](int& number, const config::Int& value) {
    constexpr std::int64_t kMost = 1000;
    if (value) number = static_cast<int>(std::clamp<std::int64_t>(*value, 1, kMost));
  };
  count(policy.max_tries, retry.max_tries);
  count(policy.overloads_before_fallback, retry.overloads_before_fallback);
  Set(policy.first_wait, retry.first_wait_ms);
  Set(policy.longest_wait, retry.longest_wait_ms);
  Set(policy.longest_asked_wait, retry.longest_asked_wait_ms);
  return policy;
}

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// A model of the catalogue, or of a provider in it.
Result<Model> Builtin(const ModelSettings& settings, std::string_view where) {
  if (!settings.id) return std::unexpected(Wrong(where, "id is missing"));
  if (settings.api)
    return std::unexpected(Wrong(where, "api is for type = \"custom\"; the provider's is known"));
  if (!settings.provider) return FindModel(*settings.id);
  const ProviderFacts* provider = FindProvider(*settings.provider);
  if (provider == nullptr)
    return std::unexpected(
        Wrong(where, fmt::format("there is no provider {}; `stet models` lists them, and type = "
                                 "\"custom\" describes any other",
                                 *settings.provider)));
  return MakeModel(*provider, *settings.id);
}

Result<Model> Custom(const ModelSettings& settings, std::string_view where) {
  for (const auto& [name, value] :
       {std::pair("id", settings.id), {"baseUrl", settings.base_url}, {"api", settings.api}}) {
    if (!value || value->empty())
      return std::unexpected(Wrong(where, fmt::format("{} is missing", name)));
  }
  const std::optional<Dialect> dialect = DialectFrom(*settings.api);
  if (!dialect || dialect == Dialect::kOffline)
    return std::unexpected(
        Wrong(where, fmt::format("api = \"{}\" is none of anthropic-messages, openai-completions, "
                                 "openai-responses, google-generative-ai",
                                 *settings.api)));
  Model model;
  model.provider = settings.provider.value_or("custom");
  model.id = *settings.id;
  model.name = *settings.id;
  model.dialect = *dialect;
  model.context_window = kDefaultWindow;
  model.max_output = kDefaultMaxOutput;
  return model;
}

Status SetTokens(std::int64_t& tokens, const config::Int& value, std::string_view key,
                 std::string_view where) {
  constexpr std::int64_t kMost = 1'000'000'000;
  if (value && (*value < 1 || *value > kMost))
    return std::unexpected(Wrong(where, fmt::format("{} must be from 1 to {}", key, kMost)));
  tokens = value.value_or(tokens);
  return {};
}

/// Line breaks above all: they would end a header and begin another.
bool HasControls(std::string_view text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  constexpr unsigned char kDelete = 0x7f;
  return std::ranges::any_of(text,
                             [](unsigned char c) { return c < kFirstPrintable || c == kDelete; });
}

constexpr std::string_view kControls = "contains a line break or another control character";

Result<Headers> ReadHeaders(const Raw& table, std::string_view where) {
  Result<Headers> headers = config::TextTable(table);
  if (!headers) return std::unexpected(Wrong(where, "headers: " + headers.error().message));
  for (const auto& [name, value] : *headers) {
    if (name.empty() || HasControls(name) || name.find_first_of(" :") != std::string::npos)
      return std::unexpected(Wrong(
          where, "headers: a header's name is not empty and has no colon, space or line break"));
    if (HasControls(value))
      return std::unexpected(Wrong(where, fmt::format("headers: {} {}", name, kControls)));
  }
  return headers;
}

Result<Access> WithKey(Model model, const Environment& environment) {
  Access access{.model = std::move(model), .key = ""};
  if (access.model.key_variable.empty()) return access;
  access.key = environment(access.model.key_variable);
  constexpr std::string_view kVault = "vault:";
  const bool kept = access.model.key_variable.starts_with(kVault);
  const std::string name = access.model.key_variable.substr(kept ? kVault.size() : 0);
  if (access.key.empty() && !access.model.key_optional)
    return Fail(Code::kAuth,
                kept ? fmt::format("{} needs a key: the vault has no {}, `stet vault set {}` puts "
                                   "it there",
                                   access.model.FullName(), name, name)
                     : fmt::format("{} needs a key: set the environment variable {}",
                                   access.model.FullName(), name));
  if (HasControls(access.key))
    return Fail(Code::kAuth,
                fmt::format("the key in {} {} {}",
                            kept ? "the vault's" : "the environment variable", name, kControls));
  return access;
}

/// What [model], a role or [models.NAME] says.
Result<Selected> FromSettings(const ModelSettings& settings, std::string_view where,
                              const Environment& environment) {
  ASSIGN_OR_RETURN(Model model, ConfiguredModel(settings, where));
  Selected selected;
  ASSIGN_OR_RETURN(selected.access, WithKey(std::move(model), environment));
  selected.effort = settings.effort;
  selected.retry = PolicyOf(settings);
  return selected;
}

/// A table of the configuration that describes a model.
struct ModelTable {
  std::string where;
  const ModelSettings* settings;
};

/// All of them, the one that holds when nothing is asked for first.
std::vector<ModelTable> ModelTables(const config::Settings& settings) {
  std::vector<ModelTable> tables;
  const auto standard = settings.roles.find("standard");
  if (standard != settings.roles.end())
    tables.push_back({"model.roles.standard", &standard->second});
  if (settings.model) tables.push_back({"model", &*settings.model});
  for (const auto& [name, table] : settings.models) tables.push_back({"models." + name, &table});
  for (const auto& [role, table] : settings.roles)
    tables.push_back({"model.roles." + role, &table});
  return tables;
}

/// The table whose model has this full name. A name that stands for two servers is none: what is
/// said to one must not go to the other.
Result<std::optional<ModelTable>> FindTable(const config::Settings& settings,
                                            const std::string& name) {
  std::optional<ModelTable> found;
  std::string server;
  for (const ModelTable& table : ModelTables(settings)) {
    const Result<Model> model = ConfiguredModel(*table.settings, table.where);
    if (!model || model->FullName() != name) continue;
    if (found && model->base_url != server)
      return Fail(Code::kConflict,
                  fmt::format("the configuration has {} at two servers: ask for the NAME of a "
                              "[models.NAME], or give each a provider of its own",
                              name));
    if (!found) server = model->base_url;
    if (!found) found = table;
  }
  return found;
}

/// By what a user may call it: the NAME of a [models.NAME], or what it is shown as. What is
/// configured under that name is meant before what the catalogue knows of it.
Result<Selected> ChooseNamed(const config::Settings& settings, const std::string& asked,
                             const Environment& environment) {
  const auto named = settings.models.find(asked);
  if (named != settings.models.end())
    return FromSettings(named->second, "models." + asked, environment);
  Result<Model> known = FindModel(asked);
  ASSIGN_OR_RETURN(const std::optional<ModelTable> table,
                   FindTable(settings, known ? known->FullName() : asked));
  if (table) return FromSettings(*table->settings, table->where, environment);
  if (!known) return std::unexpected(known.error());
  Selected selected;
  ASSIGN_OR_RETURN(selected.access, WithKey(*std::move(known), environment));
  return selected;
}

Result<Selected> Choose(const config::Settings& settings, const std::string& asked,
                        const Environment& environment) {
  Selected offline{.access = {.model = OfflineModel(), .key = ""}};
  if (asked == "offline" || asked == offline.access.model.FullName()) return offline;
  if (!asked.empty()) return ChooseNamed(settings, asked, environment);
  const auto standard = settings.roles.find("standard");
  if (standard != settings.roles.end())
    return FromSettings(standard->second, "model.roles", environment);
  if (settings.model) return FromSettings(*settings.model, "model", environment);
  return offline;
}

}  // namespace

Model OfflineModel() {
  Model model;
  model.provider = "stet";
  model.id = "offline";
  model.name = "the built-in offline model";
  model.dialect = Dialect::kOffline;
  model.context_window = kDefaultWindow;
  model.max_output = kDefaultMaxOutput;
  model.prices = Prices();
  model.known = true;
  return model;
}

Result<Model> ConfiguredModel(const ModelSettings& settings, std::string_view where) {
  const std::string type = settings.type.value_or("builtin");
  if (type != "builtin" && type != "custom")
    return std::unexpected(
        Wrong(where, fmt::format("type = \"{}\" is neither builtin nor custom", type)));
  ASSIGN_OR_RETURN(Model model,
                   type == "custom" ? Custom(settings, where) : Builtin(settings, where));
  if (settings.effort && !IsEffort(*settings.effort))
    return std::unexpected(Wrong(where, fmt::format("effort = \"{}\" is none of none, minimal, "
                                                    "low, medium, high, xhigh, max",
                                                    *settings.effort)));
  if (settings.base_url) {
    if (HasControls(*settings.base_url))
      return std::unexpected(Wrong(where, fmt::format("baseUrl {}", kControls)));
    model.base_url = WithoutSlash(*settings.base_url);
  }
  if (settings.api_key_env && settings.api_key_vault)
    return std::unexpected(Wrong(where, "a key is in apiKeyEnv or in apiKeyVault, not in both"));
  if (settings.api_key_env || settings.api_key_vault) {
    model.key_variable =
        settings.api_key_env ? *settings.api_key_env : "vault:" + *settings.api_key_vault;
    model.key_optional = false;
  }
  RETURN_IF_ERROR(SetTokens(model.context_window, settings.context_window, "contextWindow", where));
  RETURN_IF_ERROR(SetTokens(model.max_output, settings.max_tokens, "maxTokens", where));
  model.max_output_set = settings.max_tokens.has_value();
  if (settings.images) model.images = *settings.images;
  if (settings.reasoning && *settings.reasoning != (model.thinking != Thinking::kNone))
    model.thinking = *settings.reasoning ? Thinking::kEffort : Thinking::kNone;
  if (settings.headers) {
    ASSIGN_OR_RETURN(model.headers, ReadHeaders(*settings.headers, where));
  }
  if (settings.clocks) ApplyClocks(model.clocks, *settings.clocks);
  return model;
}

Result<Selected> SelectModel(const config::Settings& settings, const std::string& asked,
                             const Environment& environment) {
  ASSIGN_OR_RETURN(Selected selected, Choose(settings, asked, environment));
  const auto fallback = settings.roles.find("fallback");
  if (selected.offline() || fallback == settings.roles.end()) return selected;
  ASSIGN_OR_RETURN(Selected other, FromSettings(fallback->second, "model.roles", environment));
  if (!other.offline()) selected.fallback = std::move(other.access);
  return selected;
}

Result<Selected> SelectRole(const config::Settings& settings, const std::string& role,
                            const Environment& environment) {
  const auto found = settings.roles.find(role);
  if (found == settings.roles.end())
    return Fail(Code::kNotFound, fmt::format("no model has the role {}", role));
  return FromSettings(found->second, "model.roles." + role, environment);
}

}  // namespace stet::provider
