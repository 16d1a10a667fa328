// HttpTest: a client on its loop, and a sink that keeps what it hears.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "net/http.h"
#include "net/raw_server_fixture.h"

namespace stet::net {

using std::chrono::milliseconds;

inline constexpr std::string_view kChunkedHead =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

inline std::string Chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

/// Keeps what it hears.
class KeepingSink final : public HttpSink {
 public:
  void OnHead(int status, const Headers& headers) override {
    ++heads;
    head_status = status;
    head = headers;
  }
  Want OnBytes(std::string_view bytes) override {
    body += bytes;
    return want ? want(body) : Want::kMore;
  }
  void OnStall(milliseconds idle, milliseconds left) override {
    stalls.emplace_back(idle, left);
    if (stalled) stalled();
  }

  int heads = 0;
  int head_status = 0;
  Headers head;
  std::string body;
  std::vector<std::pair<milliseconds, milliseconds>> stalls;
  std::function<Want(const std::string&)> want;
  std::function<void()> stalled;
};

class HttpTest : public testing::Test {
 protected:
  HttpEnd Get(const std::string& url, const CancelToken& cancel = {}) {
    request_.method = "GET";
    request_.url = url;
    return loop_.RunUntilDone(http_.Send(request_, sink_, cancel));
  }

  HttpRequest request_;
  KeepingSink sink_;
  Loop loop_;
  HttpClient http_{loop_};
};

}  // namespace stet::net
