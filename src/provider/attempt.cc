#include "provider/attempt.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/view.h"
#include "provider/sse.h"

namespace stet::provider {
namespace {

/// Of a body that is no stream, the part that may explain why.
constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10;

/// The stream as seen by one attempt: notes whether anything was on it.
class NotingSink final : public Sink {
 public:
  explicit NotingSink(Sink& sink) : sink_(sink) {}
  void On(const StreamEvent& event) override {
    started_ = true;
    sink_.On(event);
  }
  [[nodiscard]] bool started() const { return started_; }

 private:
  Sink& sink_;
  bool started_ = false;
};

class ReplyReader final : public net::HttpSink {
 public:
  ReplyReader(const Surroundings& surroundings, const Model& model, Sink& sink)
      : clock_(surroundings.clock),
        sink_(sink),
        noting_(sink),
        builder_(model, noting_, surroundings.random),
        decoder_(MakeDecoder(model, builder_)) {}

  void OnHead(int status, const Headers& headers) override {
    status_ = status;
    headers_ = headers;
  }

  net::Want OnBytes(std::string_view bytes) override {
    if (shape_ == Shape::kUnknown) Sniff(bytes);
    if (shape_ != Shape::kStream) {
      body_ += bytes.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, body_.size()));
      return body_.size() < kMaxErrorBody ? net::Want::kMore : net::Want::kStop;
    }
    const bool fits = parser_.Feed(
        bytes, [&](std::string_view event, std::string_view data) { TakeEvent(event, data); });
    if (!fits) builder_.Fail({.kind = FailureKind::kProtocol, .message = "an event is too large"});
    if (builder_.failed()) return net::Want::kStop;
    return builder_.ended() ? net::Want::kNoMore : net::Want::kMore;
  }

  void OnStall(std::chrono::milliseconds idle, std::chrono::milliseconds left) override {
    sink_.On(Stalled{.idle_ms = idle.count(), .until = clock_.Now() + left.count()});
  }

  AttemptResult Finish(const net::HttpEnd& end);

 private:
  enum class Shape { kUnknown, kStream, kOther };

  /// Servers are careless with content types: a stream is known by how it begins.
  void Sniff(std::string_view bytes) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    if (status_ != net::kStatusOk) {
      shape_ = Shape::kOther;
    } else if (first != std::string_view::npos) {
      const char c = bytes[first];
      shape_ = c == '{' || c == '[' || c == '<' ? Shape::kOther : Shape::kStream;
    }
  }

  void TakeEvent(std::string_view event, std::string_view data) {
    if (IsValidUtf8(data)) {
      decoder_->On(event, data);
    } else {
      decoder_->On(event, ReplaceInvalidUtf8(data));
    }
  }

  void EndStream(bool whole);
  [[nodiscard]] Failure Redirection() const;
  [[nodiscard]] Failure OtherBody() const;
  [[nodiscard]] Failure FromTrouble(const net::HttpEnd& end) const;

  const Clock& clock_;
  Sink& sink_;
  NotingSink noting_;
  ReplyBuilder builder_;
  std::unique_ptr<Decoder> decoder_;
  SseParser parser_;
  Shape shape_ = Shape::kUnknown;
  int status_ = 0;
  Headers headers_;
  std::string body_;
};

/// The body ended. A last event without its blank line counts if it is whole.
void ReplyReader::EndStream(bool whole) {
  if (whole) {
    parser_.Finish([&](std::string_view event, std::string_view data) {
      if (CheckJson(data) || data == "[DONE]") TakeEvent(event, data);
    });
  }
  decoder_->Finish();
}

/// Not followed: the key is meant for the address that it was configured with.
Failure ReplyReader::Redirection() const {
  const auto location = std::ranges::find(headers_, "location", &Headers::value_type::first);
  const std::string to = location == headers_.end() ? "nowhere" : location->second;
  return {.kind = FailureKind::kBadRequest,
          .message = fmt::format("the server sends us to {}; if that is right, make it the baseUrl",
                                 ReplaceInvalidUtf8(to.substr(0, 200))),
          .status = status_};
}

Failure ReplyReader::OtherBody() const {
  constexpr int kFirstRedirect = 300;
  constexpr int kLastRedirect = 399;
  if (status_ >= kFirstRedirect && status_ <= kLastRedirect) return Redirection();
  const JsonView body = CheckJson(body_) ? JsonView(body_) : JsonView();
  if (status_ != net::kStatusOk || body["error"] || body.is_array())
    return FailureFromResponse(status_, headers_, body_, clock_.Now());
  if (Trimmed(body_).empty())
    return {.kind = FailureKind::kGarbled,
            .message = "the server answered with nothing",
            .status = status_};
  // Half an object comes from a server that fails; a page comes from another one than was meant.
  const bool half = !body && Trimmed(body_).find_first_of("{[") == 0;
  return {.kind = half ? FailureKind::kGarbled : FailureKind::kProtocol,
          .message = fmt::format("the server did not answer with a stream but with: {}",
                                 ReplaceInvalidUtf8(body_.substr(0, 200))),
          .status = status_};
}

Failure ReplyReader::FromTrouble(const net::HttpEnd& end) const {
  using net::HttpTrouble;
  Failure failure{.kind = FailureKind::kNetwork, .message = end.message, .status = end.status};
  switch (end.trouble) {
    case HttpTrouble::kCancelled:
      failure.kind = FailureKind::kCancelled;
      failure.message = "cancelled";
      break;
    case HttpTrouble::kTimeout: failure.kind = FailureKind::kTimeout; break;
    case HttpTrouble::kTls:
      if (end.message.find("certificate problem") != std::string::npos)
        failure.message += "; to trust another authority, name its file in SSL_CERT_FILE";
      failure.should_retry = false;
      break;
    case HttpTrouble::kNoLibrary: failure.should_retry = false; break;
    case HttpTrouble::kBadUrl: failure.kind = FailureKind::kBadRequest; break;
    default: break;
  }
  return failure;
}

AttemptResult ReplyReader::Finish(const net::HttpEnd& end) {
  using net::HttpTrouble;
  const bool stream = shape_ == Shape::kStream;
  if (end.trouble == HttpTrouble::kNone) {
    if (stream) {
      EndStream(true);
    } else {
      builder_.Fail(OtherBody());
    }
  } else if (end.trouble == HttpTrouble::kStopped) {
    if (!stream) builder_.Fail(OtherBody());
  } else if (end.trouble == HttpTrouble::kBroken && stream) {
    EndStream(false);
  } else {
    builder_.Fail(FromTrouble(end));
  }
  AttemptResult result;
  result.started = noting_.started();
  result.committed = builder_.committed();
  result.limits = ReadRateLimits(headers_);
  result.reply = builder_.TakeReply();
  return result;
}

}  // namespace

Async<AttemptResult> RunAttempt(const Surroundings& surroundings, const Model& model,
                                const net::HttpRequest& request, Sink& sink, CancelToken cancel) {
  ReplyReader reader(surroundings, model, sink);
  const net::HttpEnd end = co_await surroundings.http.Send(request, reader, cancel);
  co_return reader.Finish(end);
}

}  // namespace stet::provider
