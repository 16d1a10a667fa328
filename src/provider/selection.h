// Selection: which model is meant, out of the configuration, the catalogue and what the user asked
// for. Pure, but for the environment, which is an argument.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/settings.h"
#include "provider/http_provider.h"
#include "provider/model.h"
#include "provider/retry.h"

namespace stet::provider {

/// The value of an environment variable, or of NAME in the vault for "vault:NAME"; empty when there
/// is none.
using Environment = std::function<std::string(const std::string& name)>;

/// A model, ready to be asked.
struct Selected {
  Access access;
  std::optional<std::string> effort;  // As configured.
  RetryPolicy retry;
  std::optional<Access> fallback;
  [[nodiscard]] bool offline() const { return access.model.dialect == Dialect::kOffline; }
};

/// The built-in model that needs nothing.
Model OfflineModel();

/// `asked`, if not empty, is "offline", the NAME of a [models.NAME], "provider/id" or an id; else
/// the role `standard`, else [model], else the offline model. A configured model is also found by
/// the name that it is shown with, and then it is that one, not the catalogue's: its server, key
/// and headers. kAuth when the model's key is not in the environment; kInvalid, kNotFound or
/// kConflict, saying what to write, when the configuration makes no sense.
Result<Selected> SelectModel(const config::Settings& settings, const std::string& asked,
                             const Environment& environment);

/// The model of a role that the configuration has.
Result<Selected> SelectRole(const config::Settings& settings, const std::string& role,
                            const Environment& environment);

/// The model that a table of the configuration describes. `where` names the table in errors.
Result<Model> ConfiguredModel(const config::ModelSettings& settings, std::string_view where);

}  // namespace stet::provider
