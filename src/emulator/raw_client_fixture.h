// RawClient: one connection to the emulator, as bytes. Tests that look at what really arrives, and
// how the connection ends, are written with it. Every wait has a deadline.
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"

namespace stet::emulator {

/// Requests and texts that every dialect has.
struct Endpoint {
  std::string_view dialect;
  std::string_view target;
  std::string_view body;
};
inline constexpr std::array<Endpoint, 4> kEndpoints = {{
    {"anthropic-messages", "/v1/messages",
     R"({"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"hello"}]})"},
    {"openai-completions", "/v1/chat/completions",
     R"({"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]})"},
    {"openai-responses", "/v1/responses",
     R"({"model":"m","stream":true,"input":[{"role":"user","content":"hello"}]})"},
    {"google-generative-ai", "/v1beta/models/m:streamGenerateContent?alt=sse",
     R"({"contents":[{"role":"user","parts":[{"text":"hello"}]}]})"},
}};

class RawClient {
 public:
  enum class End { kOpen, kClosed, kReset };

  explicit RawClient(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }

  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void Request(std::string_view method, std::string_view target, std::string_view body,
               std::string_view headers = "") const {
    Send(fmt::format("{} {} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n{}\r\n{}", method,
                     target, body.size(), headers, body));
  }
  void Post(const Endpoint& endpoint) const {
    Request("POST", endpoint.target, endpoint.body, "content-type: application/json\r\n");
  }

  /// Reads until `enough` says so, the connection ends, or nothing came for `patience`.
  template <class Enough>
  End ReadUntil(Enough enough, std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    std::array<char, 65536> buffer;
    while (!enough(received_)) {
      pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&one, 1, static_cast<int>(patience.count())) <= 0) return End::kOpen;
      const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got == 0) return End::kClosed;
      if (got < 0) return errno == ECONNRESET ? End::kReset : End::kClosed;
      received_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return End::kOpen;
  }

  /// Reads to the end of the connection.
  End ReadToEnd(std::chrono::milliseconds patience = std::chrono::seconds(20)) {
    return ReadUntil([](const std::string&) { return false; }, patience);
  }

  /// Reads one whole answer, and leaves what follows it.
  std::string ReadAnswer() {
    std::size_t length = 0;
    ReadUntil([&](const std::string& bytes) { return (length = AnswerLength(bytes)) > 0; });
    const std::string answer = received_.substr(0, length);
    received_.erase(0, length);
    return answer;
  }

  [[nodiscard]] const std::string& received() const { return received_; }

  /// The body of an answer, without its chunks' framing; also of one that broke off.
  static std::string BodyOf(std::string_view answer) {
    const std::size_t head = answer.find("\r\n\r\n");
    if (head == std::string_view::npos) return "";
    const bool chunked = answer.substr(0, head).find("chunked") != std::string_view::npos;
    answer.remove_prefix(head + 4);
    if (!chunked) return std::string(answer);
    std::string body;
    while (true) {
      const std::size_t line = answer.find("\r\n");
      if (line == std::string_view::npos) return body;
      const std::size_t size = std::stoul(std::string(answer.substr(0, line)), nullptr, 16);
      if (size == 0) return body;
      body += answer.substr(line + 2, size);
      if (answer.size() < line + 4 + size) return body;
      answer.remove_prefix(line + 4 + size);
    }
  }

  /// The data of the events in a body.
  static std::vector<std::string> DataOf(std::string_view body) {
    std::vector<std::string> data;
    for (std::size_t at = 0; at < body.size();) {
      const std::size_t end = std::min(body.find('\n', at), body.size());
      std::string_view line = body.substr(at, end - at);
      at = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.starts_with("data:")) continue;
      line.remove_prefix(line.starts_with("data: ") ? 6 : 5);
      data.emplace_back(line);
    }
    return data;
  }

 private:
  /// 0 while the answer is not whole.
  static std::size_t AnswerLength(const std::string& bytes) {
    const std::size_t head = bytes.find("\r\n\r\n");
    if (head == std::string::npos) return 0;
    if (bytes.substr(0, head).find("chunked") != std::string::npos) {
      const std::size_t end = bytes.find("\r\n0\r\n\r\n", head);
      return end == std::string::npos ? 0 : end + 7;
    }
    const std::size_t at = bytes.find("content-length: ");
    if (at == std::string::npos || at > head) return head + 4;
    const std::size_t length = head + 4 + std::stoul(bytes.substr(at + 16));
    return bytes.size() < length ? 0 : length;
  }

  Fd socket_;
  std::string received_;
};

}  // namespace stet::emulator
