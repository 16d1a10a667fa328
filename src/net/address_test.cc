#include "net/address.h"

#include <gtest/gtest.h>

namespace stet::net {
namespace {

TEST(AddressTest, WhatIsThisMachineOrItsNetworkIsNotPublic) {
  for (const char* host : {"localhost",
                           "LOCALHOST.",
                           "a.localhost",
                           "printer.local",
                           "metadata.google.internal",
                           "127.0.0.1",
                           "127.1",
                           "0x7f000001",
                           "2130706433",
                           "0.0.0.0",
                           "10.1.2.3",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.168.1.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "224.0.0.1",
                           "255.255.255.255",
                           "::1",
                           "::",
                           "fe80::1",
                           "fc00::1",
                           "fd12::1",
                           "ff02::1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.0.0.1",
                           "64:ff9b::7f00:1",
                           "2002:7f00:1::",
                           "2001:db8::1",
                           ""})
    EXPECT_FALSE(MayBePublic(host)) << host;
}

TEST(AddressTest, EverythingElseMayBe) {
  for (const char* host : {"example.com", "1.1.1.1", "172.32.0.1", "8.8.8.8", "2606:4700::1111",
                           "::ffff:8.8.8.8", "localhost.example.com", "100.128.0.1"})
    EXPECT_TRUE(MayBePublic(host)) << host;
}

}  // namespace
}  // namespace stet::net
