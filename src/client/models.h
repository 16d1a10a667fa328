// Models: everything a face can ask about models. An interface, so that faces know no host.
// Blocking; one thread at a time.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "protocol/models.h"

namespace stet::client {

class Models {
 public:
  virtual ~Models() = default;

  /// The catalogue and the configuration. A configuration that makes no sense is an error.
  virtual Result<protocol::ModelList> List() = 0;

  /// Asks the model (the configured one when empty) one short question. `tell` hears of waits. What
  /// its server did wrong is in the answer; an error is a model that cannot be asked at all.
  virtual Result<protocol::ModelCheck> Check(
      const std::string& model, const std::function<void(const std::string&)>& tell) = 0;
};

}  // namespace stet::client
