// Where hooks come from: the user's configuration, and a project's own once it is trusted.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/roots.h"
#include "config/settings.h"
#include "hook/extension/manifest.h"
#include "hook/hooks.h"
#include "protocol/device.h"

namespace stet::device {

struct HookSources {
  const config::Settings& user;
  std::string user_file;
  std::string project_file;
  bool trusted_hooks = false;  // The project's may run.
};

/// Those that may run: the user's first. kInvalid says where a file is wrong; a project that is not
/// trusted is not looked at.
Result<std::vector<hook::Hook>> CollectHooks(const HookSources& sources);

/// All there are, for people; those of a project that is not trusted are listed as off.
Result<protocol::HookRows> ListHooks(const HookSources& sources);

struct ExtensionSources {
  std::string user_folder;
  std::string project_folder;
  bool trusted = false;  // The project's may run.
  std::vector<std::string> disabled;
};

ExtensionSources ExtensionsOf(const config::Roots& roots, const std::string& project,
                              const config::Settings& user, const protocol::TrustReport& trust);

/// The folders whose extensions count; of the same id the later one's.
std::vector<std::string> ExtensionFolders(const ExtensionSources& sources);

/// All there are, for people, and which of them run.
protocol::ExtensionRows ListExtensions(const ExtensionSources& sources);

}  // namespace stet::device
