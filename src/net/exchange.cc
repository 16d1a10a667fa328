#include "net/exchange.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/version.h"
#include "net/address.h"
#include "net/authorities.h"

namespace stet::net {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr long kBufferBytes = 64 << 10;

std::string Seconds(milliseconds span) {
  if (span.count() % 1000 == 0) return fmt::format("{} s", span.count() / 1000);
  return fmt::format("{} ms", span.count());
}

HttpTrouble TroubleOf(CURLcode code) {
  switch (code) {
    case CURLE_OK: return HttpTrouble::kNone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_INTERFACE_FAILED: return HttpTrouble::kConnect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR: return HttpTrouble::kTls;
    case CURLE_OPERATION_TIMEDOUT: return HttpTrouble::kTimeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return HttpTrouble::kBadUrl;
    default: return HttpTrouble::kBroken;
  }
}

bool ProxyIsSet() {
  return std::ranges::any_of(
      std::array{"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"},
      [](const char* name) {
        const char* value = std::getenv(name);
        return value != nullptr && *value != '\0';
      });
}

}  // namespace

Exchange::Exchange(const Curl& curl, Loop& loop, const HttpRequest& request, HttpSink& sink)
    : curl_(curl),
      request_(request),
      sink_(sink),
      easy_(curl.easy_init()),
      done_(loop),
      idle_timer_(loop),
      whole_timer_(loop) {
  if (easy_ != nullptr) SetOptions();
}

Exchange::~Exchange() {
  if (easy_ != nullptr) curl_.easy_cleanup(easy_);
  curl_.slist_free_all(headers_);
}

void Exchange::SetOptions() {
  const auto set = [&](CURLoption option, auto value) { curl_.easy_setopt(easy_, option, value); };
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // Giving up does not wait for a name server.
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  if (!request_.body.empty()) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request_.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
  for (const auto& [name, value] : request_.headers)
    headers_ = curl_.slist_append(headers_, (name + ": " + value).c_str());
  headers_ = curl_.slist_append(headers_, "Expect:");  // A large body does not ask first.
  set(CURLOPT_HTTPHEADER, headers_);
  set(CURLOPT_USERAGENT, fmt::format("stet/{}", ProgramVersion()).c_str());
  set(CURLOPT_ACCEPT_ENCODING, "");  // Whatever the library can undo.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.clocks.connect.count()));
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_HEADERFUNCTION, &Exchange::OnHeader);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &Exchange::OnBody);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (request_.public_only) SetPublicOnly();
  SetTrust();
}

/// Shares no connection with other exchanges: one that is open already may have been made by an
/// exchange that may talk to private addresses.
void Exchange::SetPublicOnly() {
  curl_.easy_setopt(easy_, CURLOPT_FRESH_CONNECT, 1L);
  curl_.easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
  if (ProxyIsSet()) return;  // The address that is connected to is the proxy's.
  curl_.easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, &Exchange::OnSocket);
  curl_.easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
}

curl_socket_t Exchange::OnSocket(void* self, curlsocktype, curl_sockaddr* address) {
  if (!IsPublicAddress(address->addr)) {
    static_cast<Exchange*>(self)->not_public_ = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void Exchange::SetTrust() {
  const Authorities& trust = SystemAuthorities();
  if (trust.file.empty() && trust.folder.empty()) return;  // The library's own default.
  curl_.easy_setopt(easy_, CURLOPT_CAINFO, trust.file.empty() ? nullptr : trust.file.c_str());
  curl_.easy_setopt(easy_, CURLOPT_CAPATH, trust.folder.empty() ? nullptr : trust.folder.c_str());
}

void Exchange::StartClocks() {
  last_byte_ = SystemClock().Steady();
  Watch();
  if (request_.clocks.whole) {
    whole_timer_.Start(*request_.clocks.whole, [this] {
      Settle(HttpTrouble::kTimeout,
             fmt::format("the reply was not complete after {}", Seconds(*request_.clocks.whole)));
    });
  }
}

/// One timer for the next thing that silence will lead to; bytes only note the time.
void Exchange::Watch() {
  const Clocks& clocks = request_.clocks;
  milliseconds next = clocks.idle_fail;
  if (!body_began_) {
    next = clocks.first_byte;
  } else if (!warned_) {
    next = std::min(clocks.idle_warn, clocks.idle_fail);
  }
  const auto idle = std::chrono::duration_cast<milliseconds>(SystemClock().Steady() - last_byte_);
  idle_timer_.Start(std::max(next - idle, milliseconds(1)), [this] { OnClock(); });
}

void Exchange::OnClock() {
  const Clocks& clocks = request_.clocks;
  const auto idle = std::chrono::duration_cast<milliseconds>(SystemClock().Steady() - last_byte_);
  if (!body_began_ && idle >= clocks.first_byte) {
    Settle(HttpTrouble::kTimeout,
           fmt::format("the server sent nothing for {}", Seconds(clocks.first_byte)));
    return;
  }
  if (body_began_ && idle >= clocks.idle_fail) {
    Settle(HttpTrouble::kTimeout,
           fmt::format("the server fell silent for {}", Seconds(clocks.idle_fail)));
    return;
  }
  if (body_began_ && idle >= clocks.idle_warn && !warned_) {
    warned_ = true;
    sink_.OnStall(idle, clocks.idle_fail - idle);
  }
  Watch();
}

void Exchange::OnFinished(CURLcode code) {
  if (stopped_by_sink_) {
    Settle(HttpTrouble::kStopped, "");
    return;
  }
  HttpTrouble trouble = enough_ ? HttpTrouble::kNone : TroubleOf(code);
  long sent = 0;
  curl_.easy_getinfo(easy_, CURLINFO_REQUEST_SIZE, &sent);
  // libcurl says "unsupported protocol" of an address and of a reply that is no HTTP.
  if (trouble == HttpTrouble::kBadUrl && sent > 0) trouble = HttpTrouble::kBroken;
  Settle(trouble, trouble == HttpTrouble::kNone ? "" : MessageOf(code));
}

std::string Exchange::MessageOf(CURLcode code) const {
  if (not_public_) return "its address is not public";
  // libcurl calls a line that is longer than it takes a lack of memory.
  if (header_too_large_ || code == CURLE_OUT_OF_MEMORY)
    return "the header of the server's reply is too large";
  return error_text_[0] != '\0' ? error_text_.data() : curl_.easy_strerror(code);
}

void Exchange::Settle(HttpTrouble trouble, std::string message) {
  idle_timer_.Cancel();
  whole_timer_.Cancel();
  HttpEnd end{.trouble = trouble, .message = std::move(message), .status = status_};
  done_.Set(std::move(end));
}

bool Exchange::TakeHeaderLine(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    reply_headers_.clear();
    const std::string_view code = Trimmed(line.substr(std::min(line.find(' '), line.size())));
    status_ = 0;
    std::from_chars(code.data(), code.data() + code.size(), status_);
    return true;
  }
  if (line == "\r\n" || line == "\n") {
    constexpr int kFirstFinal = 200;  // Below it, the real head is still to come.
    if (status_ >= kFirstFinal && !body_began_) sink_.OnHead(status_, reply_headers_);
    return true;
  }
  const std::size_t colon = line.find(':');
  if (body_began_ || colon == std::string_view::npos) return true;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  reply_headers_.emplace_back(std::move(name), Trimmed(line.substr(colon + 1)));
  std::size_t bytes = 0;
  for (const auto& [key, value] : reply_headers_) bytes += key.size() + value.size();
  header_too_large_ = bytes > kMaxHeaderBytes;
  return !header_too_large_;
}

bool Exchange::TakeBody(std::string_view bytes) {
  last_byte_ = SystemClock().Steady();
  if (!body_began_ || warned_) {  // The clock that runs is of another silence.
    body_began_ = true;
    warned_ = false;
    Watch();
  }
  if (enough_) return true;
  switch (sink_.OnBytes(bytes)) {
    case Want::kMore: return true;
    case Want::kStop: stopped_by_sink_ = true; return false;
    case Want::kNoMore: break;
  }
  enough_ = true;
  idle_timer_.Cancel();
  whole_timer_.Start(kGrace, [this] { Settle(HttpTrouble::kNone, ""); });
  return true;
}

std::size_t Exchange::OnHeader(char* bytes, std::size_t size, std::size_t count, void* self) {
  const std::size_t length = size * count;
  return static_cast<Exchange*>(self)->TakeHeaderLine({bytes, length}) ? length : 0;
}

std::size_t Exchange::OnBody(char* bytes, std::size_t size, std::size_t count, void* self) {
  const std::size_t length = size * count;
  return static_cast<Exchange*>(self)->TakeBody({bytes, length}) ? length : 0;
}

}  // namespace stet::net
