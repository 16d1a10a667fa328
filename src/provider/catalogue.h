// The catalogue: the providers and models that stet knows without being told, as data.
//
// Prices and limits are those that the providers published in November 2026. A model that is not in
// here still works, under its provider or as a custom endpoint, with the defaults stated below and
// an unknown price.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/model.h"

namespace stet::provider {

/// Of a model that neither the catalogue nor the configuration describes.
inline constexpr std::int64_t kDefaultWindow = 128'000;
inline constexpr std::int64_t kDefaultMaxOutput = 16'384;

// In the order in which the table names them:
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct ModelFacts {
  std::string_view id;
  std::string_view name;
  std::int64_t context_window;
  std::int64_t max_output;
  std::optional<Prices> prices;
  Thinking thinking;
  std::string_view efforts;
  bool images;
};

struct ProviderFacts {
  std::string_view name;
  Dialect dialect;
  std::string_view base_url;
  std::string_view key_variable;
  bool local;  // On this machine: it reads the whole prompt before its first byte; needs no key.
  Quirks quirks;
  std::span<const ModelFacts> models;
};

/// In the order they are listed.
std::span<const ProviderFacts> Providers();
const ProviderFacts* FindProvider(std::string_view name);

/// A model of a known provider; one that is not in the catalogue gets the defaults.
Model MakeModel(const ProviderFacts& provider, std::string_view id);

/// "provider/id", or an id that only one provider has. kNotFound says what to write instead.
Result<Model> FindModel(std::string_view name);

/// Everything in the catalogue.
std::vector<Model> BuiltinModels();

}  // namespace stet::provider
