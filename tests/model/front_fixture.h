// Front: nginx in front of the emulator, as real servers have one: TLS, HTTP/2 and gzip. It says in
// the header x-front-protocol of what it hands on how it was spoken to.
//
// nginx runs from construction until destruction, as the current user, in a temporary folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "tests/model/program_fixture.h"

namespace stet::test {

/// An authority of our own, and a server's certificate for 127.0.0.1, ::1 and localhost from it.
class Certificates {
 public:
  Certificates() {
    const std::vector<std::string> new_key = {
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"};
    std::vector<std::string> authority = {"openssl", "req",         "-x509", "-days",         "2",
                                          "-subj",   "/CN=Test CA", "-out",  authority_file()};
    authority.insert(authority.end(), new_key.begin(), new_key.end());
    authority.push_back(dir_.Sub("ca.key"));
    RunTool(authority);
    std::vector<std::string> request = {"openssl",       "req",  "-subj",
                                        "/CN=localhost", "-out", dir_.Sub("server.csr")};
    request.insert(request.end(), new_key.begin(), new_key.end());
    request.push_back(key());
    RunTool(request);
    EXPECT_TRUE(ReplaceFile(dir_.Sub("names"), "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\n",
                            Durable::kNo));
    RunTool({"openssl", "x509", "-req", "-in", dir_.Sub("server.csr"), "-CA", authority_file(),
             "-CAkey", dir_.Sub("ca.key"), "-CAcreateserial", "-days", "2", "-extfile",
             dir_.Sub("names"), "-out", certificate()});
    EXPECT_TRUE(MakeDirs(authority_folder()));
    EXPECT_TRUE(LinkOrCopy(authority_file(), authority_folder() + "/ca.pem"));
    RunTool({"openssl", "rehash", authority_folder()});
  }

  [[nodiscard]] std::string authority_file() const { return dir_.Sub("ca.pem"); }
  /// With hashed names.
  [[nodiscard]] std::string authority_folder() const { return dir_.Sub("trusted"); }
  [[nodiscard]] std::string certificate() const { return dir_.Sub("server.pem"); }
  [[nodiscard]] std::string key() const { return dir_.Sub("server.key"); }

 private:
  TempDir dir_;
};

inline const Certificates& TestCertificates() {
  static const Certificates certificates;
  return certificates;
}

/// A port that was free a moment ago, in IPv4 and in IPv6.
inline std::uint16_t FreePort() {
  const Fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(socket.get(), any, size), 0);
  EXPECT_EQ(::getsockname(socket.get(), any, &size), 0);
  return ntohs(address.sin6_port);
}

class Front {
 public:
  explicit Front(std::uint16_t emulator_port) {
    // Another process may take a port before nginx does.
    constexpr int kTries = 5;
    for (int i = 0; i < kTries && !process_; ++i) Start(emulator_port);
    EXPECT_TRUE(process_) << said_;
  }

  [[nodiscard]] bool running() const { return process_.has_value(); }

  /// Both versions of HTTP are offered.
  [[nodiscard]] std::string Tls(std::string_view host = "127.0.0.1") const {
    return fmt::format("https://{}:{}", host, tls_);
  }
  /// Only HTTP/1.1 is.
  [[nodiscard]] std::string OldTls() const { return fmt::format("https://127.0.0.1:{}", old_tls_); }
  [[nodiscard]] std::string Plain(std::string_view host = "127.0.0.1") const {
    return fmt::format("http://{}:{}", host, plain_);
  }

  /// The first `count` requests, a line each: "PROTOCOL STATUS [ENCODING]". nginx writes a line
  /// when it is done with a request, which may be after the client is.
  [[nodiscard]] std::string Log(std::ptrdiff_t count) const {
    constexpr int kMomentMs = 5;
    const Deadline deadline = Deadline::After(kPatience);
    while (true) {
      const Result<std::string> log = ReadFile(dir_.Sub("access.log"));
      EXPECT_TRUE(log) << log.error().Text();
      if (!log || std::ranges::count(*log, '\n') >= count || deadline.Passed())
        return log.value_or("");
      pollfd one{.fd = process_->pidfd(), .events = POLLIN, .revents = 0};
      ::poll(&one, 1, kMomentMs);
    }
  }

 private:
  void Start(std::uint16_t emulator_port) {
    tls_ = FreePort();
    old_tls_ = FreePort();
    plain_ = FreePort();
    EXPECT_TRUE(ReplaceFile(dir_.Sub("nginx.conf"), Config(emulator_port), Durable::kNo));
    SpawnOptions options;
    // Not on the PATH of ordinary users.
    constexpr const char* kDebians = "/usr/sbin/nginx";
    options.argv = {Exists(kDebians) ? kDebians : "nginx",
                    "-p",
                    dir_.path(),
                    "-c",
                    dir_.Sub("nginx.conf"),
                    "-e",
                    "stderr"};
    Result<Subprocess> started = Subprocess::Start(std::move(options));
    if (!started) {
      said_ = started.error().Text() + "; install nginx-light: scripts/install_packages test";
      return;
    }
    if (AwaitListening(*started)) process_.emplace(*std::move(started));
  }

  /// It says how it waits for events once its sockets are open.
  bool AwaitListening(Subprocess& process) {
    const Deadline deadline = Deadline::After(kPatience);
    said_.clear();
    while (!deadline.Passed() && process.stderr_fd() >= 0) {
      pollfd one{.fd = process.stderr_fd(), .events = POLLIN, .revents = 0};
      ::poll(&one, 1, deadline.PollTimeout());
      std::array<char, 4096> buffer;
      const ssize_t got = ::read(one.fd, buffer.data(), buffer.size());
      if (got <= 0) return false;
      said_.append(buffer.data(), static_cast<std::size_t>(got));
      if (said_.find("event method") != std::string::npos) return true;
    }
    return false;
  }

  [[nodiscard]] std::string Config(std::uint16_t emulator_port) const {
    return fmt::format(R"(
daemon off;
master_process off;
pid {0}/pid;
error_log stderr notice;
events {{ worker_connections 64; }}
http {{
  log_format front '$server_protocol $status [$sent_http_content_encoding]';
  access_log {0}/access.log front;
  client_body_temp_path {0}/body;
  proxy_temp_path {0}/proxy;
  fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi;
  scgi_temp_path {0}/scgi;
  client_max_body_size 0;
  ssl_certificate {5};
  ssl_certificate_key {6};
  proxy_http_version 1.1;
  proxy_buffering off;
  proxy_set_header x-front-protocol $server_protocol;
  gzip_types text/event-stream;
  gzip_min_length 1;
  gzip_proxied any;
  server {{
    listen 127.0.0.1:{1} ssl http2;
    listen 127.0.0.2:{1} ssl http2;
    listen [::1]:{1} ssl http2;
    listen 127.0.0.1:{2} ssl;
    listen 127.0.0.1:{3};
    listen [::1]:{3};
    location / {{ proxy_pass http://127.0.0.1:{4}; }}
    location /gzip/ {{ gzip on; proxy_pass http://127.0.0.1:{4}; }}
  }}
}}
)",
                       dir_.path(), tls_, old_tls_, plain_, emulator_port,
                       TestCertificates().certificate(), TestCertificates().key());
  }

  TempDir dir_;
  std::uint16_t tls_ = 0;
  std::uint16_t old_tls_ = 0;
  std::uint16_t plain_ = 0;
  std::string said_;
  std::optional<Subprocess> process_;
};

/// The emulator with nginx in front of it.
class FrontTest : public ProgramTest {
 protected:
  void StartFront(std::string_view script) {
    StartEmulator(script);
    front_.emplace(emulator_->port());
    ASSERT_TRUE(front_->running());
  }
  static std::string TrustByFile() {
    return "SSL_CERT_FILE=" + TestCertificates().authority_file();
  }

  std::optional<Front> front_;
};

}  // namespace stet::test
