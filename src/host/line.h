// Line: what a client is connected by, as the methods that are about it know it.
#pragma once

#include <string>

#include "base/result.h"
#include "protocol/services.h"
#include "protocol/wire.h"

namespace stet::host {

class Line {
 public:
  virtual ~Line() = default;

  // The caller's right was checked.

  /// From now on the client hears the session; what there is follows the answer.
  virtual Result<protocol::Subscribed> Subscribe(const protocol::Subscribe& wanted) = 0;
  /// The client has opened the session, and has it open until it lets go.
  virtual void Hold(const std::string& session_id) = 0;
  /// Lets go of the session: the client hears nothing more of it, and what it offered is withdrawn.
  virtual void Forget(const std::string& session_id) = 0;
  /// What the client does for the session from now on. kDenied unless it is on this machine.
  virtual Status Offer(const protocol::Offer& offer) = 0;
};

}  // namespace stet::host
