// Requests to the sandbox's proxy out of arbitrary bytes: what is understood names a host that is
// safe to show and to look up, and is passed on without a second request in its head.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "sandbox/hosts.h"

namespace stet::fuzz {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto request = sandbox::ParseProxyRequest(bytes);
  if (!request) return 0;
  CHECK(!request->host.empty() && !request->port.empty(), "a request has a host and a port");
  CHECK(
      std::ranges::none_of(request->host, [](char c) { return c <= ' ' || c == '/' || c == '@'; }),
      "a host is a name or an address");
  CHECK(request->tunnel || request->head.ends_with("Connection: close\r\n\r\n"),
        "what goes to a server ends there");
  CHECK(request->head.find("\r\n\r\n") == std::string::npos ||
            request->head.find("\r\n\r\n") + 4 == request->head.size(),
        "a head has one end");
  CHECK(sandbox::IsListed({request->host}, request->host, request->port) ||
            request->host.contains(':'),
        "a listed host is listed");
  return 0;
}

}  // namespace stet::fuzz
