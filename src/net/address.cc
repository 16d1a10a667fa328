#include "net/address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace stet::net {
namespace {

struct Range {
  std::uint32_t first;
  int bits;
};

constexpr std::uint32_t Ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

/// IPv4 that is not reachable from the whole internet (the special-purpose registry).
constexpr std::array kOwn = {
    Range{Ip(0, 0, 0, 0), 8},     Range{Ip(10, 0, 0, 0), 8},      Range{Ip(100, 64, 0, 0), 10},
    Range{Ip(127, 0, 0, 0), 8},   Range{Ip(169, 254, 0, 0), 16},  Range{Ip(172, 16, 0, 0), 12},
    Range{Ip(192, 0, 0, 0), 24},  Range{Ip(192, 0, 2, 0), 24},    Range{Ip(192, 168, 0, 0), 16},
    Range{Ip(198, 18, 0, 0), 15}, Range{Ip(198, 51, 100, 0), 24}, Range{Ip(203, 0, 113, 0), 24},
    Range{Ip(224, 0, 0, 0), 3},
};

bool IsPublic4(std::uint32_t ip) {
  return std::ranges::none_of(
      kOwn, [&](const Range& range) { return (ip ^ range.first) >> (32 - range.bits) == 0; });
}

std::uint32_t Word(const in6_addr& ip, int at) {
  std::uint32_t word = 0;
  std::memcpy(&word, ip.s6_addr + at, sizeof word);
  return ntohl(word);
}

bool IsPublic6(const in6_addr& ip) {
  const std::uint32_t first = Word(ip, 0);
  const bool zeros = first == 0 && Word(ip, 4) == 0;
  // An IPv4 address inside: mapped, compatible, or translated.
  if (zeros && (Word(ip, 8) == 0xffff || Word(ip, 8) == 0))
    return Word(ip, 12) > 1 && IsPublic4(Word(ip, 12));
  if (first == 0x0064ff9b) return IsPublic4(Word(ip, 12));
  if (first >> 16 == 0x2002) return IsPublic4(first << 16 | Word(ip, 4) >> 16);
  // Only 2000::/3 is given out; of it, documentation and Teredo are not public.
  return first >> 29 == 1 && first != 0x20010db8 && first != 0x20010000;
}

}  // namespace

bool IsPublicAddress(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return IsPublic4(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  if (address.sa_family == AF_INET6)
    return IsPublic6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  return false;
}

bool MayBePublic(std::string_view host) {
  std::string name(host);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  while (name.ends_with('.')) name.pop_back();
  if (name.empty() || name == "localhost") return false;
  for (const char* ending : {".localhost", ".local", ".internal", ".home.arpa"}) {
    if (name.ends_with(ending)) return false;
  }
  in6_addr six{};
  if (::inet_pton(AF_INET6, name.c_str(), &six) == 1) return IsPublic6(six);
  // As the library reads numbers: 127.1 and 0x7f000001 are addresses, too.
  in_addr four{};
  if (::inet_aton(name.c_str(), &four) != 0) return IsPublic4(ntohl(four.s_addr));
  return true;
}

}  // namespace stet::net
