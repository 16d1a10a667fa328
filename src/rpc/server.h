// Server: HTTP and WebSocket on a unix socket and, when asked for, on TCP or TLS. One per host.
//
// Belongs to the loop, and must die before it, as must what it hands out. What comes from a peer is
// bounded: heads of 16 KB, bodies and frames of kMaxFrame, kHeadTime for a head, kConnections
// connections; what is over is refused with its HTTP status. It looks at no meaning: `admit` says
// who may speak at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop.h"
#include "base/result.h"
#include "rpc/channel.h"

namespace stet::rpc {

inline constexpr std::chrono::seconds kHeadTime{10};
inline constexpr std::size_t kConnections = 1024;

/// Who is at the other end.
struct Peer {
  bool local = false;     // On the unix socket.
  std::int64_t uid = -1;  // Of a local one.
  std::int64_t pid = -1;  // Of a local one.
  std::string address;    // Of another: "127.0.0.1:40112".
  bool encrypted = false;
};

struct HttpRequest {
  Peer peer;
  std::string method;
  std::string path;                                          // Percent-decoded; without the query.
  std::string query;                                         // As it came.
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string body;

  /// The first of that name; empty when there is none.
  [[nodiscard]] std::string_view Header(std::string_view name) const;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

/// The answer to one request; given once, now or later. Destroyed without: status 500.
class HttpReply {
 public:
  virtual ~HttpReply() = default;
  virtual void Send(int status, Headers headers, std::string body) = 0;
  /// A body that goes on: its texts are sent as they come. Nothing is read from it. The connection
  /// ends with it.
  virtual std::unique_ptr<Channel> Stream(int status, Headers headers) = 0;
};

struct ServerEvents {
  /// Before anything else is done with a request, WebSocket or not, and before its body is read: an
  /// error refuses it with 403 (kDenied), 401 (kAuth) or 400, and its message.
  std::function<Status(const HttpRequest&)> admit;
  /// A WebSocket was opened at /ws.
  std::function<void(std::unique_ptr<Channel>, const Peer&)> channel;
  std::function<void(HttpRequest, std::unique_ptr<HttpReply>)> request;
};

struct TlsFiles {
  std::string certificate;  // PEM files.
  std::string key;
};

struct ListenOptions {
  std::string unix_path;   // Made with mode 0600; a stale one is replaced. Empty: none.
  std::string address;     // Empty: no TCP.
  std::uint16_t port = 0;  // 0: any.
  std::optional<TlsFiles> tls;
};

class Server {
 public:
  /// kBusy when another listens there already, kInvalid for what is no address or no certificate.
  static Result<std::unique_ptr<Server>> Listen(Loop& loop, const ListenOptions& options,
                                                ServerEvents events);
  /// Closes the connections that are no channels; channels belong to the `channel` callback's
  /// owner. The unix socket's name is removed.
  virtual ~Server() = default;

  /// "127.0.0.1:7777"; empty without TCP.
  [[nodiscard]] virtual std::string address() const = 0;
};

}  // namespace stet::rpc
