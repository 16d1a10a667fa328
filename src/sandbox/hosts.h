// Hosts: the part of HTTP that a proxy must understand to say which hosts a command may reach.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/profile.h"

namespace stet::sandbox {

/// The head of a request to a proxy is at most so long.
inline constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 10;

struct ProxyRequest {
  std::string host;  // In lower case, without brackets and a dot at its end.
  std::string port;
  bool tunnel = false;  // CONNECT; else `head` goes to the server.
  std::string head;
};

/// `head` ends with the empty line. Nothing when it is no request to a proxy.
std::optional<ProxyRequest> ParseProxyRequest(std::string_view head);

/// Whether one of `hosts` is this host, at this port or any.
bool IsListed(const Texts& hosts, std::string_view host, std::string_view port);

/// The answer to a request for a host that is not listed, connection closed behind it.
std::string RefusalResponse(std::string_view host, std::string_view port);

}  // namespace stet::sandbox
