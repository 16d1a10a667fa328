#include "device/model_names.h"

#include "provider/selection.h"

namespace stet::device {

std::string AskedFor(const config::Settings& settings, const std::string& name) {
  if (name.empty()) return "";
  if (name == provider::OfflineModel().FullName()) return "offline";
  const auto is_it = [&](const config::ModelSettings& table) {
    const Result<provider::Model> model = provider::ConfiguredModel(table, "model");
    return model && model->FullName() == name;
  };
  const auto standard = settings.roles.find("standard");
  const bool configured = standard != settings.roles.end()
                              ? is_it(standard->second)
                              : settings.model && is_it(*settings.model);
  if (configured) return "";
  for (const auto& [nickname, table] : settings.models) {
    if (is_it(table)) return nickname;
  }
  return name;
}

}  // namespace stet::device
