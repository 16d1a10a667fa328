// Where hooks come from: the user's configuration, and a project's own once it is trusted.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "hook/hooks.h"
#include "protocol/device.h"

namespace stet::host {

struct HookSources {
  const config::Settings& user;
  std::string user_file;
  std::string project_file;
  bool trusted_hooks = false;  // The project's may run.
};

/// Those that may run: the user's first. kInvalid says where a file is wrong; a project that is not
/// trusted is not looked at.
Result<std::vector<hook::Hook>> CollectHooks(const HookSources& sources);

/// All there are, for people; those of a project that is not trusted are said to be off.
Result<protocol::HookRows> ListHooks(const HookSources& sources);

}  // namespace stet::host
