#include "sandbox/hosts.h"

#include <gtest/gtest.h>

namespace stet::sandbox {
namespace {

TEST(HostsTest, ATunnelNamesItsHostAndPort) {
  const auto request = ParseProxyRequest("CONNECT Example.COM.:8443 HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->tunnel);
  EXPECT_EQ(request->host, "example.com");
  EXPECT_EQ(request->port, "8443");
  EXPECT_EQ(ParseProxyRequest("CONNECT [::1]:80 HTTP/1.1\r\n\r\n")->host, "::1");
}

TEST(HostsTest, APlainRequestGoesOnAsItsServerWantsIt) {
  const auto request = ParseProxyRequest(
      "GET http://user@a.org:81/x?y HTTP/1.1\r\nHost: a.org\r\nProxy-Authorization: p\r\n"
      "Connection: keep-alive\r\nAccept: */*\r\n\r\n");
  ASSERT_TRUE(request);
  EXPECT_FALSE(request->tunnel);
  EXPECT_EQ(request->host + ":" + request->port, "a.org:81");
  EXPECT_EQ(request->head,
            "GET /x?y HTTP/1.1\r\nHost: a.org\r\nAccept: */*\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(ParseProxyRequest("GET http://a.org HTTP/1.0\r\n\r\n")->head.starts_with("GET / "));
}

TEST(HostsTest, WhatIsNoRequestToAProxyIsNothing) {
  for (const char* head :
       {"", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "GET https://a/ HTTP/1.1\r\n\r\n",
        "CONNECT a:b HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/2\r\n\r\n",
        "CONNECT [::1 HTTP/1.1\r\n\r\n", "CONNECT a\tb:1 HTTP/1.1\r\n\r\n",
        "CONNECT :1 HTTP/1.1\r\n\r\n", "CONNECT a:1 HTTP/1.1", "CONNECT a:123456 HTTP/1.1\r\n\r\n"})
    EXPECT_FALSE(ParseProxyRequest(head)) << head;
}

TEST(HostsTest, AHostIsListedByNameByDomainOrWithItsPort) {
  const Texts hosts{"example.com", "*.Sub.org", "ported.net:443", "[::1]:80", "10.0.0.1"};
  EXPECT_TRUE(IsListed(hosts, "example.com", "1"));
  EXPECT_FALSE(IsListed(hosts, "www.example.com", "443"));
  EXPECT_FALSE(IsListed(hosts, "badexample.com", "443"));
  EXPECT_TRUE(IsListed(hosts, "a.sub.org", "443"));
  EXPECT_TRUE(IsListed(hosts, "a.b.sub.org", "443"));
  EXPECT_FALSE(IsListed(hosts, "sub.org", "443"));
  EXPECT_FALSE(IsListed(hosts, ".sub.org", "443"));
  EXPECT_TRUE(IsListed(hosts, "ported.net", "443"));
  EXPECT_FALSE(IsListed(hosts, "ported.net", "80"));
  EXPECT_TRUE(IsListed(hosts, "::1", "80"));
  EXPECT_FALSE(IsListed(hosts, "::1", "81"));
  EXPECT_TRUE(IsListed(hosts, "10.0.0.1", "5"));
  EXPECT_FALSE(IsListed({}, "a", "1"));
}

TEST(HostsTest, ARefusalSaysWhoAndHow) {
  const std::string text = RefusalResponse("evil.com", "443");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 403 "));
  EXPECT_NE(text.find("evil.com:443"), std::string::npos);
  EXPECT_NE(text.find("[sandbox] hosts"), std::string::npos);
}

}  // namespace
}  // namespace stet::sandbox
