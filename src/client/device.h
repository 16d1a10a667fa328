// Device: everything a face can ask about the device and its configuration. An interface, so that
// faces know no host. Blocking; one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/device.h"

namespace stet::client {

class Device {
 public:
  virtual ~Device() = default;

  /// Fails when the configuration cannot be read.
  virtual Result<protocol::FaceSettings> Face() = 0;

  /// The settings in force, and where each comes from. kInvalid says where the file is wrong.
  virtual Result<protocol::ConfigReport> Config() = 0;
  /// The configuration file, whether it exists or not.
  virtual std::string ConfigPath() = 0;

  /// What is configured to run when something happens in a session that works in `folder`.
  virtual Result<protocol::HookRows> Hooks(const std::string& folder) = 0;

  /// The extensions of the user, and of the project of this folder.
  virtual Result<protocol::ExtensionRows> Extensions(const std::string& folder) = 0;

  /// Makes it the model of the configuration; all else in the file stays. kConflict when another is
  /// there, unless `replace`: then the file before is kept beside it, as NAME.old.
  virtual Status ChooseModel(const protocol::ModelChoice& choice, bool replace) = 0;

  /// What the project of this folder brings that acts, and what of it is trusted.
  virtual Result<protocol::TrustReport> Trust(const std::string& folder) = 0;
  /// Trusts these parts and no others, as they are now. kInvalid names a part that there is not.
  virtual Status SetTrust(const std::string& folder, const std::vector<std::string>& parts) = 0;

  /// What the vault has, by name; never the values.
  virtual Result<protocol::VaultReport> Vault() = 0;
  /// kNotFound when there is none of that name.
  virtual Result<std::string> VaultValue(const std::string& name) = 0;
  virtual Status SetVault(const std::string& name, const std::string& value) = 0;
  virtual Status RemoveVault(const std::string& name) = 0;

  /// Runs a command in the sandbox, with this process's input, output and terminal. kUnsupported
  /// when none works here.
  virtual Result<protocol::SandboxEnd> RunSandboxed(const protocol::SandboxRun& run) = 0;

  /// Looks at everything that stet needs; what is wrong is in the answer.
  virtual protocol::CheckRows Examine() = 0;
};

}  // namespace stet::client
