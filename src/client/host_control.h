// HostControl: everything a face can ask about the device's host. An interface, so that faces know
// no host. Blocking; one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/wire.h"

namespace stet::client {

class HostControl {
 public:
  virtual ~HostControl() = default;

  /// Runs the host in this process until it is stopped. kBusy, naming it, when one runs.
  virtual Status Serve(const protocol::HostLaunch& launch) = 0;
  /// Starts one in the background, unless one runs; ends when it listens.
  virtual Result<protocol::HostState> Start(const protocol::HostLaunch& launch) = 0;
  /// Asks it to stop, and kills it after 5 s. False when none ran.
  virtual Result<bool> Stop() = 0;
  virtual Result<protocol::HostReport> Report() = 0;
  /// Forgets what is kept about the host, its token too. kBusy while one runs.
  virtual Status Reset() = 0;

  /// A systemd user unit that runs it.
  virtual Result<std::string> Unit() = 0;
  /// The file of its diagnostics; with a session, as it was typed, of what it did for that one.
  virtual Result<std::string> LogPath(const std::string& session) = 0;

  /// The token itself is told only here.
  virtual Result<std::string> AddToken(const std::string& name,
                                       const std::vector<std::string>& rights) = 0;
  virtual Result<protocol::TokenRows> Tokens() = 0;
  virtual Status RevokeToken(const std::string& name) = 0;
};

}  // namespace stet::client
