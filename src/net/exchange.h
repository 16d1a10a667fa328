// Exchange: one request and its reply inside libcurl. Internal to net/.
//
// It owns its handle and its clocks. HttpClient puts it into the multi handle, tells it when
// libcurl is done with it, and takes it out before it dies. It ends once: the first reason to end
// counts.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "net/curl.h"
#include "net/http.h"

namespace stet::net {

class Exchange {
 public:
  Exchange(const Curl& curl, Loop& loop, const HttpRequest& request, HttpSink& sink);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Null when libcurl could not make one.
  [[nodiscard]] CURL* handle() const { return easy_; }
  /// Set when the exchange is over: await it.
  [[nodiscard]] const Pending<HttpEnd>& done() const { return done_; }

  void StartClocks();
  void OnFinished(CURLcode code);

 private:
  using Steady = std::chrono::steady_clock;

  void SetOptions();
  void SetTrust();
  void SetPublicOnly();
  [[nodiscard]] std::string MessageOf(CURLcode code) const;
  void Settle(HttpTrouble trouble, std::string message);
  void Watch();
  void OnClock();
  bool TakeHeaderLine(std::string_view line);
  bool TakeBody(std::string_view bytes);
  static curl_socket_t OnSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static std::size_t OnHeader(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t OnBody(char* bytes, std::size_t size, std::size_t count, void* self);

  const Curl& curl_;
  const HttpRequest& request_;
  HttpSink& sink_;
  CURL* easy_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  Pending<HttpEnd> done_;
  Timer idle_timer_;
  Timer whole_timer_;
  Steady::time_point last_byte_;
  bool body_began_ = false;
  bool warned_ = false;
  bool header_too_large_ = false;
  bool stopped_by_sink_ = false;
  bool not_public_ = false;
  bool enough_ = false;
  int status_ = 0;
  Headers reply_headers_;
};

}  // namespace stet::net
