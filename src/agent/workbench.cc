#include "agent/workbench.h"

namespace stet::agent {

Status AppendEvent(log::Log& log, protocol::Payload payload, const protocol::Stamp& stamp,
                   const std::string& id) {
  std::vector<log::Draft> batch;
  batch.push_back({.payload = std::move(payload), .id = id, .stamp = stamp});
  RETURN_IF_ERROR(log.Append(std::move(batch)));
  return {};
}

}  // namespace stet::agent
