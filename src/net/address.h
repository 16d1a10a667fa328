// Addresses that are the user's own business: this machine, its network, and what answers there.
#pragma once

#include <string_view>

#include <sys/socket.h>

namespace stet::net {

/// Whether the address can be reached from the whole internet: not loopback, private, link-local,
/// multicast or reserved, in IPv4, IPv6, or the one inside the other.
bool IsPublicAddress(const sockaddr& address);

/// Whether a host of an address (without brackets) may be public: false for addresses that are not,
/// and for names that mean this machine or its network. A name that must be looked up may be.
bool MayBePublic(std::string_view host);

}  // namespace stet::net
