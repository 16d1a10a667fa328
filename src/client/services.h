// Services: what a face does for a session that it holds when the host asks: an editor has files
// open and terminals. An interface, so that a host asks a face in this process and one behind a
// socket alike. protocol/services.h has what is asked and answered.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "json/json.h"
#include "protocol/services.h"

namespace stet::client {

class Services {
 public:
  using Done = std::function<void(Result<Raw>)>;

  virtual ~Services() = default;

  /// Never changes.
  [[nodiscard]] virtual const protocol::Texts& offers() const = 0;

  /// Does what `method` says. Called on a thread of the host's or the connection's: must not block.
  /// `done` is called at most once, from any thread, also inside this call; the caller does not
  /// wait for ever. kUnavailable when the face is gone.
  virtual void Ask(const std::string& method, const Raw& params, Done done) = 0;
};

}  // namespace stet::client
