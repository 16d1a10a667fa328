#include "sandbox/hosts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace stet::sandbox {
namespace {

constexpr std::size_t kMaxHostBytes = 255;

/// Letters of names and addresses only: it is shown to people and looked up.
bool IsHost(std::string_view host) {
  return !host.empty() && host.size() <= kMaxHostBytes && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
           c == ':';
  });
}

bool IsPort(std::string_view port) {
  constexpr std::size_t kMaxDigits = 5;
  return !port.empty() && port.size() <= kMaxDigits &&
         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

/// "host", "host:port" or "[address]:port".
bool SplitAuthority(std::string_view authority, ProxyRequest& request) {
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
    authority.remove_prefix(at + 1);
  std::string_view host = authority;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return false;
    host = authority.substr(1, close - 1);
    rest = authority.substr(close + 1);
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    rest = authority.substr(colon);
  }
  if (rest.starts_with(':')) request.port = rest.substr(1);
  if (host.ends_with('.')) host.remove_suffix(1);
  request.host = Lower(host);
  return IsHost(request.host) && IsPort(request.port);
}

/// The request as its server wants it: without the address, without what is meant for proxies, and
/// with the connection closed behind it, so that a second request is looked at as well.
std::string HeadForServer(std::string_view method, std::string_view path, std::string_view version,
                          std::string_view fields) {
  std::string head = fmt::format("{} {} {}\r\n", method, path.empty() ? "/" : path, version);
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.find("\r\n"), fields.size());
    const std::string_view line = fields.substr(0, end);
    fields.remove_prefix(std::min(end + 2, fields.size()));
    const std::string name = Lower(line.substr(0, line.find(':')));
    if (line.empty() || name.starts_with("proxy-") || name == "connection" || name == "keep-alive")
      continue;
    head.append(line).append("\r\n");
  }
  return head + "Connection: close\r\n\r\n";
}

}  // namespace

std::optional<ProxyRequest> ParseProxyRequest(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || line.size() == head.size())
    return std::nullopt;
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!version.starts_with("HTTP/1.")) return std::nullopt;
  ProxyRequest request{.host = "", .port = "443", .tunnel = method == "CONNECT", .head = ""};
  if (request.tunnel)
    return SplitAuthority(target, request) ? std::optional(request) : std::nullopt;
  constexpr std::string_view kScheme = "http://";
  if (Lower(target.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  target.remove_prefix(kScheme.size());
  const std::size_t path = std::min(target.find_first_of("/?"), target.size());
  request.port = "80";
  if (!SplitAuthority(target.substr(0, path), request)) return std::nullopt;
  request.head = HeadForServer(method, target.substr(path), version, head.substr(line.size() + 2));
  return request;
}

bool IsListed(const Texts& hosts, std::string_view host, std::string_view port) {
  return std::ranges::any_of(hosts, [&](const std::string& entry) {
    std::string listed = Lower(entry);
    // An IPv6 address has several colons, and its port stands behind a bracket.
    const std::size_t colon = listed.rfind(':');
    const bool has_port =
        colon != std::string::npos && (listed.find(':') == colon || listed[colon - 1] == ']');
    if (has_port && listed.substr(colon + 1) != port) return false;
    if (has_port) listed.resize(colon);
    if (listed.starts_with('[') && listed.ends_with(']'))
      listed = listed.substr(1, listed.size() - 2);
    if (!listed.starts_with("*.")) return listed == host;
    return host.size() > listed.size() - 1 && host.ends_with(std::string_view(listed).substr(1));
  });
}

std::string RefusalResponse(std::string_view host, std::string_view port) {
  const std::string text = fmt::format(
      "The sandbox of stet does not let commands reach {}:{}.\n"
      "Hosts are allowed by [sandbox] hosts in stet's configuration.\n",
      host, port);
  return fmt::format(
      "HTTP/1.1 403 Forbidden by the sandbox of stet\r\nContent-Type: text/plain\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      text.size(), text);
}

}  // namespace stet::sandbox
