#include "host/folder_right.h"

#include <fmt/format.h>

#include "device/projects.h"
#include "protocol/method.h"

namespace stet::host {

Status MayName(const config::Roots& roots, const Caller& caller, const std::string& folder) {
  if (caller.May(protocol::right::kAdmin)) return {};
  const Result<bool> known = device::Projects(roots).Contains(folder);
  if (!known && known.error().code != Code::kNotFound) return std::unexpected(known.error());
  if (known.value_or(false)) return {};
  return Fail(Code::kDenied,
              fmt::format("{} is in no project of this device: register it, or use a token with "
                          "the right admin",
                          folder));
}

}  // namespace stet::host
