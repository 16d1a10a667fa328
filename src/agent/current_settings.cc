#include "agent/current_settings.h"

#include "agent/settings.h"

namespace stet::agent {

CurrentSettings::CurrentSettings(SessionSettings first)
    : now_(std::make_shared<const SessionSettings>(std::move(first))) {}

void CurrentSettings::SetMode(policy::Mode mode) {
  Replace([&](SessionSettings& next) { next.rules.mode = mode; });
}

void CurrentSettings::Grant(const std::vector<policy::Rule>& rules) {
  if (rules.empty()) return;
  Replace([&](SessionSettings& next) {
    next.rules.allow.insert(next.rules.allow.end(), rules.begin(), rules.end());
  });
}

void CurrentSettings::Forget(const std::function<bool(const policy::Rule&)>& is) {
  Replace([&](SessionSettings& next) { std::erase_if(next.rules.allow, is); });
}

void CurrentSettings::SetModel(provider::Selected model) {
  Replace([&](SessionSettings& next) { next.model = std::move(model); });
}

void CurrentSettings::SetEffort(std::string effort) {
  Replace([&](SessionSettings& next) { next.effort = std::move(effort); });
}

void CurrentSettings::Replace(const std::function<void(SessionSettings&)>& change) {
  SessionSettings next = *now_;
  change(next);
  now_ = std::make_shared<const SessionSettings>(std::move(next));
}

}  // namespace stet::agent
