// CurrentSettings: the settings of a session as they are now, and the one place where a new value
// replaces them.
//
// A reference into the value holds until the next change, which may come with any wait: what must
// stay the same over a wait is kept with shared(). Owned by the session's workbench, on its loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stet::policy {
enum class Mode;
struct Rule;
}  // namespace stet::policy

namespace stet::provider {
struct Selected;
}

namespace stet::agent {

struct SessionSettings;

class CurrentSettings {
 public:
  explicit CurrentSettings(SessionSettings first);

  [[nodiscard]] const SessionSettings& operator*() const { return *now_; }
  [[nodiscard]] const SessionSettings* operator->() const { return now_.get(); }
  [[nodiscard]] std::shared_ptr<const SessionSettings> shared() const { return now_; }

  void SetMode(policy::Mode mode);
  /// From now on these allow, beside those that did.
  void Grant(const std::vector<policy::Rule>& rules);
  /// Those of them that `is` says of allow no more.
  void Forget(const std::function<bool(const policy::Rule&)>& is);
  void SetModel(provider::Selected model);
  void SetEffort(std::string effort);

 private:
  void Replace(const std::function<void(SessionSettings&)>& change);

  std::shared_ptr<const SessionSettings> now_;
};

}  // namespace stet::agent
