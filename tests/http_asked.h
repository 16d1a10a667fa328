// What a host's HTTP face answers: one request on a socket of its own, word by word.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fs.h"

namespace stet::test {

struct HttpAsked {
  std::uint16_t port = 0;  // Of loopback.
  std::string token;
  std::string method = "GET";
  std::string path;
  std::string body = {};
  std::string headers = {};  // Each with its line end.
};

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
};

/// Its answer can be read.
inline Fd AskHttp(const HttpAsked& asked) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(asked.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  EXPECT_TRUE(
      WriteAll(fd.get(), fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n"
                                     "Authorization: Bearer {}\r\nContent-Length: {}\r\n{}\r\n{}",
                                     asked.method, asked.path, asked.port, asked.token,
                                     asked.body.size(), asked.headers, asked.body)));
  return fd;
}

/// Reads until `enough` says so, or the end.
inline HttpAnswer ReadHttp(
    const Fd& fd, const std::function<bool(const std::string&)>& enough = [](const std::string&) {
      return false;
    }) {
  std::string all;
  char buffer[4096];
  ssize_t got = 0;
  while (!enough(all) && (got = ::read(fd.get(), buffer, sizeof buffer)) > 0)
    all.append(buffer, static_cast<std::size_t>(got));
  HttpAnswer answer;
  const std::size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = all.substr(0, end);
  answer.body = all.substr(end + 4);
  answer.status = std::atoi(answer.head.c_str() + 9);
  return answer;
}

}  // namespace stet::test
