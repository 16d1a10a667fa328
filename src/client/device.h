// Device: everything a face can ask about the device and its configuration. An interface, so that
// faces know no host. What only reads can be asked of another device's host as well
// (client/remote/device.h). Every call returns at once and is answered once, in the order of the
// calls, unless it says otherwise; what is not answered when the client is destroyed is kCancelled.
// Calls are made from one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/reply.h"
#include "protocol/device.h"

namespace stet::client {

class Device {
 public:
  virtual ~Device() = default;

  /// Fails when the configuration cannot be read.
  virtual void Face(Reply<protocol::FaceSettings> reply) = 0;

  /// The settings in force, and where each comes from. kInvalid says where the file is wrong.
  virtual void Config(Reply<protocol::ConfigReport> reply) = 0;
  /// The configuration file, whether it exists or not. Nothing is looked at.
  virtual void ConfigPath(Reply<std::string> reply) = 0;

  /// What is configured to run when something happens in a session that works in `folder`.
  virtual void Hooks(const std::string& folder, Reply<protocol::HookRows> reply) = 0;

  /// The extensions of the user, and of the project of this folder.
  virtual void Extensions(const std::string& folder, Reply<protocol::ExtensionRows> reply) = 0;

  /// Makes it the model of the configuration; all else in the file stays. kConflict when another is
  /// there, unless `replace`: then the file before is kept beside it, as NAME.old.
  virtual void ChooseModel(const protocol::ModelChoice& choice, bool replace,
                           Reply<void> reply) = 0;

  /// What the project of this folder brings that acts, and what of it is trusted.
  virtual void Trust(const std::string& folder, Reply<protocol::TrustReport> reply) = 0;
  /// Trusts these parts and no others, as they are now. kInvalid names a part that there is not.
  virtual void SetTrust(const std::string& folder, const std::vector<std::string>& parts,
                        Reply<void> reply) = 0;

  /// What the vault has, by name; never the values.
  virtual void Vault(Reply<protocol::VaultReport> reply) = 0;
  /// kNotFound when there is none of that name.
  virtual void VaultValue(const std::string& name, Reply<std::string> reply) = 0;
  virtual void SetVault(const std::string& name, const std::string& value, Reply<void> reply) = 0;
  virtual void RemoveVault(const std::string& name, Reply<void> reply) = 0;

  /// Runs a command in the sandbox, with this process's input, output and terminal, and waits for
  /// its end: for a face that has left them to it. kUnsupported when none works here.
  virtual Result<protocol::SandboxEnd> RunSandboxed(const protocol::SandboxRun& run) = 0;

  /// Looks at everything that stet needs; what is wrong is in the answer.
  virtual void Examine(Reply<protocol::CheckRows> reply) = 0;
};

}  // namespace stet::client
