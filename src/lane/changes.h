// LaneChanges: how a session is worked on, as clients change it: its model, effort, mode and title;
// and the providers of its models. What is changed is in the log.
//
// Owned by the lane; the providers live as long as it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "protocol/live.h"
#include "provider/selection.h"

namespace stet::agent {
struct Workbench;
}

namespace stet::provider {
class Provider;
}

namespace stet::device {
class ModelAccess;
}

namespace stet::lane {

class LaneChanges {
 public:
  /// Finds a model that a client asks for.
  using Select = std::function<Result<provider::Selected>(const std::string&)>;

  /// Opens the models that the settings name. Both references outlive it.
  LaneChanges(agent::Workbench& bench, device::ModelAccess& models, Select select);
  ~LaneChanges();

  /// Mode and title change at once. Model and effort wait for Apply: a turn is one model's work.
  /// All of it is changed, or nothing.
  Status Change(const protocol::Change& change);
  /// Between turns.
  Status Apply();

  [[nodiscard]] protocol::PermissionReport Permissions() const;

 private:
  Status Forget(const std::string& rule);
  void UseModel(provider::Selected model);

  agent::Workbench& bench_;
  device::ModelAccess& models_;
  Select select_;
  std::unique_ptr<provider::Provider> provider_;
  std::unique_ptr<provider::Provider> auxiliary_;  // Null when none is configured.
  std::optional<provider::Selected> next_model_;
  std::optional<std::string> next_effort_;
};

}  // namespace stet::lane
