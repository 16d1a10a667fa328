#include "provider/catalogue.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stet::provider {
namespace {

constexpr std::chrono::milliseconds kLocalFirstByte{600'000};

const ModelFacts* FindFacts(const ProviderFacts& provider, std::string_view id) {
  const auto found = std::ranges::find(provider.models, id, &ModelFacts::id);
  return found == provider.models.end() ? nullptr : &*found;
}

}  // namespace

const ProviderFacts* FindProvider(std::string_view name) {
  const auto all = Providers();
  const auto found = std::ranges::find(all, name, &ProviderFacts::name);
  return found == all.end() ? nullptr : &*found;
}

Model MakeModel(const ProviderFacts& provider, std::string_view id) {
  Model model;
  model.provider = provider.name;
  model.id = id;
  model.name = id;
  model.dialect = provider.dialect;
  model.base_url = provider.base_url;
  model.key_variable = provider.key_variable;
  model.key_optional = provider.local;
  model.quirks = provider.quirks;
  if (provider.local) model.clocks.first_byte = kLocalFirstByte;
  model.context_window = kDefaultWindow;
  model.max_output = kDefaultMaxOutput;
  if (const ModelFacts* facts = FindFacts(provider, id)) {
    model.known = true;
    model.name = facts->name;
    model.context_window = facts->context_window;
    model.max_output = facts->max_output;
    model.prices = facts->prices;
    model.thinking = facts->thinking;
    model.efforts = facts->efforts;
    model.images = facts->images;
  }
  return model;
}

Result<Model> FindModel(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) {
    const ProviderFacts* provider = FindProvider(name.substr(0, slash));
    if (provider != nullptr && slash + 1 < name.size())
      return MakeModel(*provider, name.substr(slash + 1));
  }
  std::vector<std::string> found;
  std::optional<Model> model;
  for (const ProviderFacts& provider : Providers()) {
    if (FindFacts(provider, name) == nullptr) continue;
    model = MakeModel(provider, name);
    found.push_back(model->FullName());
  }
  if (found.size() == 1) return *std::move(model);
  if (found.size() > 1)
    return Fail(Code::kConflict, fmt::format("several providers have the model {}: write one of {}",
                                             name, fmt::join(found, ", ")));
  return Fail(
      Code::kNotFound,
      fmt::format("no model is called {}: write PROVIDER/ID (`stet models` lists those that "
                  "are known), or describe it in the configuration",
                  name));
}

std::vector<Model> BuiltinModels() {
  std::vector<Model> models;
  for (const ProviderFacts& provider : Providers()) {
    for (const ModelFacts& facts : provider.models) models.push_back(MakeModel(provider, facts.id));
  }
  return models;
}

}  // namespace stet::provider
