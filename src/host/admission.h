// Admission: which client a host lets in, as what, and for how long.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/result.h"
#include "host/caller.h"
#include "rpc/server.h"

namespace stet::host {

class Host;

/// The caller of a request: the same user on the unix socket, or the holder of its token. kAuth,
/// kDenied.
Result<Caller> Authenticate(const Host& host, const rpc::Peer& peer,
                            const std::optional<std::string>& token);

/// The token that a request over HTTP brings.
std::optional<std::string> TokenIn(const rpc::HttpRequest& request);

/// The id by which a client is known in the log: what it calls itself, if that can be an id, or one
/// that is made up; behind it "@" and its token's name when it came with one, so that no client of
/// another token can be taken for it. Call it when `name` is the token's.
std::string IdentityOf(const Caller& caller, std::string_view wanted);

/// Looks whether a client that stays connected would be let in again: its token may be revoked, by
/// any process. Belongs to the loop; its owner is the connection.
class Admission {
 public:
  /// How long a client may stay whose token is revoked.
  static constexpr std::chrono::milliseconds kRecheck{500};

  /// `host` must outlive it.
  Admission(Host& host, rpc::Peer peer, std::optional<std::string> token);

  /// From now on; `revoked` is called once, and may destroy this. A local client has no token to
  /// lose: nothing is looked at.
  void Watch(std::function<void(const Error&)> revoked);
  /// Whether it would be let in now.
  [[nodiscard]] Status Check() const;

 private:
  Host& host_;
  const rpc::Peer peer_;
  const std::optional<std::string> token_;
  std::function<void(const Error&)> revoked_;
  Timer timer_;
};

}  // namespace stet::host
