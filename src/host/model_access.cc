#include "host/model_access.h"

#include <cstdlib>

#include "base/clock.h"
#include "base/random.h"
#include "provider/http_provider.h"
#include "provider/offline.h"

namespace stet::host {

std::unique_ptr<provider::Provider> ModelAccess::Open(provider::Selected selected) {
  if (selected.offline()) return std::make_unique<provider::OfflineProvider>(ProcessRandom());
  const provider::Surroundings surroundings{
      .http = http_, .clock = SystemClock(), .random = ProcessRandom()};
  return std::make_unique<provider::HttpProvider>(loop_, surroundings, std::move(selected.access),
                                                  std::move(selected.fallback), selected.retry);
}

std::string ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

}  // namespace stet::host
