// Roots: the two folders that are the user's: data (sessions, trash, vault) and configuration.
// $STET_HOME makes both one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stet::config {

struct Roots {
  std::string data;
  std::string config;

  [[nodiscard]] std::string sessions() const { return data + "/sessions"; }
  [[nodiscard]] std::string trash() const { return data + "/trash"; }
  [[nodiscard]] std::string device() const { return data + "/device"; }
  [[nodiscard]] std::string settings() const { return config + "/config.toml"; }
  /// Rules that were granted for good, and those for one project.
  [[nodiscard]] std::string rules() const { return config + "/rules.toml"; }
  [[nodiscard]] std::string project_rules(const std::string& project) const;
  [[nodiscard]] std::string trust() const { return data + "/trust.json"; }
  [[nodiscard]] std::string vault() const { return data + "/vault"; }
  [[nodiscard]] std::string vault_key() const { return data + "/vault.key"; }
  /// With which this device proves what it wrote.
  [[nodiscard]] std::string device_key() const { return data + "/device.key"; }
  /// The host's socket, what it says of itself, and the clients that it knows.
  [[nodiscard]] std::string host_socket() const { return data + "/host.sock"; }
  [[nodiscard]] std::string host_state() const { return data + "/host.json"; }
  [[nodiscard]] std::string host_lock() const { return data + "/host.lock"; }
  [[nodiscard]] std::string host_certificate() const { return data + "/host.crt"; }
  [[nodiscard]] std::string host_key() const { return data + "/host.key"; }
  [[nodiscard]] std::string host_log() const { return data + "/host.log"; }
  [[nodiscard]] std::string tokens() const { return data + "/tokens.json"; }
  [[nodiscard]] std::string projects() const { return data + "/projects.json"; }
  /// What is kept of files so that it can be put back.
  [[nodiscard]] std::string undo() const { return data + "/undo"; }
  /// What clients keep of sessions that they attached to.
  [[nodiscard]] std::string transcripts() const { return data + "/transcripts"; }
  [[nodiscard]] std::string diagnostics() const { return data + "/diagnostics.log"; }
};

/// The rules of the machine's administrator.
inline constexpr std::string_view kManagedSettings = "/etc/stet/config.toml";

/// From the environment: $STET_HOME, else $XDG_DATA_HOME/stet and $XDG_CONFIG_HOME/stet, else under
/// $HOME, else under the home folder that the system knows for the user. Relative values are
/// refused by name. Creates nothing.
Result<Roots> FindRoots();

/// This device's id, made and kept at first use.
Result<std::string> DeviceId(const Roots& roots);

/// This installation's key, made and kept at first use in a file that only the user reads. kCorrupt
/// when it is damaged: without it nothing that was allowed before counts, and so it is not
/// replaced.
Result<std::string> DeviceKey(const Roots& roots);

}  // namespace stet::config
