// Models: everything a face can ask about models. An interface, so that faces know no host.
// Every call returns at once and is answered once, in the order of the calls; what is not answered
// when the client is destroyed is kCancelled. Calls are made from one thread.
#pragma once

#include <functional>
#include <string>

#include "client/reply.h"
#include "protocol/models.h"

namespace stet::client {

class Models {
 public:
  virtual ~Models() = default;

  /// The catalogue and the configuration. A configuration that makes no sense is an error.
  virtual void List(Reply<protocol::ModelList> reply) = 0;

  /// Asks the model (the configured one when empty) one short question. `tell` hears of waits,
  /// on a thread of the client's, before the answer. What its server did wrong is in the answer; an
  /// error is a model that cannot be asked at all.
  virtual void Check(const std::string& model, const std::function<void(const std::string&)>& tell,
                     Reply<protocol::ModelCheck> reply) = 0;
};

}  // namespace stet::client
