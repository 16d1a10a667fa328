#include "net/http.h"

#include <unordered_map>

#include "net/curl.h"
#include "net/exchange.h"

namespace stet::net {

class HttpClient::Impl {
 public:
  explicit Impl(Loop& loop) : loop_(loop), timer_(loop) {}
  ~Impl() {
    watches_.clear();
    if (multi_ != nullptr) curl_->multi_cleanup(multi_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Async<HttpEnd> Send(const HttpRequest& request, HttpSink& sink, CancelToken cancel);

 private:
  /// Takes the exchange out of libcurl, however its task ends.
  class Membership {
   public:
    Membership(Impl& impl, Exchange& exchange) : impl_(impl), exchange_(exchange) {
      impl_.curl_->multi_add_handle(impl_.multi_, exchange_.handle());
    }
    ~Membership() { impl_.curl_->multi_remove_handle(impl_.multi_, exchange_.handle()); }
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

   private:
    Impl& impl_;
    Exchange& exchange_;
  };

  Status Prepare();
  void Act(curl_socket_t fd, int events);
  void CollectFinished();
  static int OnSocket(CURL* easy, curl_socket_t fd, int what, void* self, void* watch);
  static int OnTimer(CURLM* multi, long timeout_ms, void* self);

  Loop& loop_;
  const Curl* curl_ = nullptr;
  CURLM* multi_ = nullptr;
  Timer timer_;
  std::unordered_map<curl_socket_t, std::unique_ptr<FdWatch>> watches_;
};

Status HttpClient::Impl::Prepare() {
  if (multi_ != nullptr) return {};
  ASSIGN_OR_RETURN(curl_, LoadCurl());
  multi_ = curl_->multi_init();
  if (multi_ == nullptr) return Fail(Code::kUnsupported, "libcurl does not start");
  curl_->multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Impl::OnSocket);
  curl_->multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_->multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Impl::OnTimer);
  curl_->multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  return {};
}

int HttpClient::Impl::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& impl = *static_cast<Impl*>(self);
  if (what == CURL_POLL_REMOVE) {
    impl.watches_.erase(fd);
    return 0;
  }
  std::unique_ptr<FdWatch>& watch = impl.watches_[fd];
  if (watch == nullptr) {
    watch = std::make_unique<FdWatch>(impl.loop_, fd, [&impl, fd](bool readable, bool writable) {
      impl.Act(fd, (readable ? CURL_CSELECT_IN : 0) | (writable ? CURL_CSELECT_OUT : 0));
    });
  }
  watch->Want((what & CURL_POLL_IN) != 0, (what & CURL_POLL_OUT) != 0);
  return 0;
}

int HttpClient::Impl::OnTimer(CURLM*, long timeout_ms, void* self) {
  auto& impl = *static_cast<Impl*>(self);
  if (timeout_ms < 0) {
    impl.timer_.Cancel();
  } else {
    impl.timer_.Start(std::chrono::milliseconds(timeout_ms),
                      [&impl] { impl.Act(CURL_SOCKET_TIMEOUT, 0); });
  }
  return 0;
}

void HttpClient::Impl::Act(curl_socket_t fd, int events) {
  int running = 0;
  curl_->multi_socket_action(multi_, fd, events, &running);
  CollectFinished();
}

void HttpClient::Impl::CollectFinished() {
  int left = 0;
  while (const CURLMsg* message = curl_->multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    void* exchange = nullptr;
    curl_->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
    static_cast<Exchange*>(exchange)->OnFinished(code);
  }
}

Async<HttpEnd> HttpClient::Impl::Send(const HttpRequest& request, HttpSink& sink,
                                      CancelToken cancel) {
  HttpEnd failed{.trouble = HttpTrouble::kNoLibrary};
  if (cancel.cancelled()) {
    failed.trouble = HttpTrouble::kCancelled;
    co_return failed;
  }
  if (const Status ready = Prepare(); !ready) {
    failed.message = ready.error().Text();
    co_return failed;
  }
  Exchange exchange(*curl_, loop_, request, sink);
  if (exchange.handle() == nullptr) {
    failed.message = "libcurl has no memory left";
    co_return failed;
  }
  const Membership membership(*this, exchange);
  exchange.StartClocks();
  const CancelRegistration registration = cancel.OnCancel([done = exchange.done()] {
    HttpEnd cancelled{.trouble = HttpTrouble::kCancelled};
    done.Set(std::move(cancelled));
  });
  co_return co_await exchange.done();
}

HttpClient::HttpClient(Loop& loop) : impl_(std::make_unique<Impl>(loop)) {}

HttpClient::~HttpClient() = default;

Async<HttpEnd> HttpClient::Send(const HttpRequest& request, HttpSink& sink, CancelToken cancel) {
  return impl_->Send(request, sink, std::move(cancel));
}

}  // namespace stet::net
