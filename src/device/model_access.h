// ModelAccess: joins a chosen model to what it needs to be asked: the loop, the network, time and
// chance. One per loop, shared by everything that asks models there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/loop.h"
#include "config/roots.h"
#include "net/http.h"
#include "provider/provider.h"
#include "provider/selection.h"

namespace stet::device {

class ModelAccess {
 public:
  /// `loop` must outlive this, and this the providers it opens.
  explicit ModelAccess(Loop& loop) : loop_(loop), http_(loop) {}

  std::unique_ptr<provider::Provider> Open(provider::Selected selected);
  net::HttpClient& http() { return http_; }

 private:
  Loop& loop_;
  net::HttpClient http_;
};

/// This process's environment; empty for what is not set.
std::string ProcessEnvironment(const std::string& name);

/// The environment variables that hold keys, of any model that may be asked: nothing that is
/// started gets them, no command and no hook.
std::vector<std::string> KeyVariables(const config::Settings& settings);

/// The environment, this process's own when it is null, and the vault for "vault:NAME".
provider::Environment KeyLookup(const config::Roots& roots,
                                std::shared_ptr<const Environment> environment = nullptr);

}  // namespace stet::device
