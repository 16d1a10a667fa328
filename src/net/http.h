// HttpClient: HTTP/1.1 and 2 over libcurl on the loop. Connections are reused; replies stream.
//
// Certificates are looked up in the system's hashed folder (loading the whole bundle would cost
// more than the request), SSL_CERT_FILE and SSL_CERT_DIR come first; HTTPS_PROXY, http_proxy,
// ALL_PROXY and NO_PROXY count; gzip and its kin are undone; redirects are not followed, because a
// key must not go where it was not meant for. Belongs to the loop's thread, and must outlive its
// exchanges.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/loop.h"
#include "net/headers.h"

namespace stet::net {

struct HttpRequest {
  std::string method = "POST";
  std::string url;
  Headers headers;
  std::string body;
  Clocks clocks;
  /// Ends with kConnect rather than talk to an address that is not public (net/address.h), whatever
  /// a name server says; on a connection of its own. Through a proxy only the address itself
  /// counts.
  bool public_only = false;
};

/// How an exchange ended.
enum class HttpTrouble {
  kNone,       // The reply is whole; its status may be anything.
  kCancelled,  // We were asked to stop.
  kStopped,    // The sink did not want more.
  kConnect,    // No name, no route, or no server that listens.
  kTls,        // No trust or no common language with the server.
  kTimeout,    // A clock ran out.
  kBroken,     // The connection broke, or the reply is no HTTP.
  kBadUrl,     // The address makes no sense.
  kNoLibrary,  // libcurl cannot be used here.
};

struct HttpEnd {
  HttpTrouble trouble = HttpTrouble::kNone;
  std::string message;  // For people, when there was trouble.
  int status = 0;       // 0: no reply at all.
};

/// What a sink wants after a piece of the body.
enum class Want {
  kMore,
  kNoMore,  // It has all it needs: the exchange ends well, at the latest after kGrace. Until then
            // the reply may end by itself, so that its connection can be used again.
  kStop,    // The exchange ends now, as kStopped.
};
inline constexpr std::chrono::milliseconds kGrace{200};

inline constexpr int kStatusOk = 200;

/// Hears a reply, on the loop's thread, from inside libcurl: it must not use the client.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  /// The final status and its headers.
  virtual void OnHead(int status, const Headers& headers) = 0;
  /// A piece of the body.
  virtual Want OnBytes(std::string_view bytes) = 0;
  /// No byte has come for `idle`; at `idle + left` the exchange is given up.
  virtual void OnStall(std::chrono::milliseconds idle, std::chrono::milliseconds left) = 0;
};

class HttpClient {
 public:
  explicit HttpClient(Loop& loop);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// One exchange. `request` and `sink` must outlive the task. Cancelling takes effect within
  /// milliseconds, at every state.
  Async<HttpEnd> Send(const HttpRequest& request, HttpSink& sink, CancelToken cancel);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stet::net
