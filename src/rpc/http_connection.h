// HttpConnection: one connection of a server: requests are read, admitted, handed over and
// answered one after the other, until one makes a channel of the connection or it ends.
//
// It lives as long as an operation on it is under way, or its answer is awaited.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rpc/beast.h"
#include "rpc/http_stream.h"
#include "rpc/http_text.h"
#include "rpc/serving.h"
#include "rpc/websocket_link.h"

namespace stet::rpc {

inline constexpr std::uint32_t kMaxHead = 16 << 10;
/// What is read ahead of a request that is being answered, and its head.
inline constexpr std::size_t kReadAhead = 32 << 10;
/// How much is read at once of bytes that are not parsed yet: behind a request, or before the
/// close.
inline constexpr std::size_t kPiece = 4 << 10;
inline constexpr int kUnauthorized = 401;
inline constexpr int kForbidden = 403;
/// How long a peer that was refused has to take the reply.
inline constexpr std::chrono::seconds kLingerTime{1};

using Parser = http::request_parser<http::string_body>;

/// The head as callers see it. kInvalid when it is HTTP, but not to be trusted.
Result<HttpRequest> RequestOf(const Parser& parser, const Peer& peer);
/// The socket that was accepted; empty when the system refuses it.
std::optional<Socket> Adopt(Loop& loop, Fd fd, const Peer& peer);
/// The status that answers a request that could not be read; 0 when the peer is gone.
int StatusOf(const error_code& error);

template <class Stream>
class HttpConnection final : public Connection,
                             public Answering,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  HttpConnection(std::shared_ptr<Serving> serving, Stream stream, Peer peer)
      : serving_(std::move(serving)),
        slot_(std::make_shared<Slot>(serving_, peer.local)),
        stream_(std::move(stream)),
        peer_(std::move(peer)),
        timer_(serving_->loop),
        proving_(serving_->loop),
        buffer_(kReadAhead) {
    serving_->connections.insert(this);
    if (!slot_->proven()) proving_.Start(serving_->limits.unproven, [this] { Abort(); });
  }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection() override { serving_->connections.erase(this); }

  Stream& stream() { return stream_; }

  /// Within that time, or the connection is closed.
  void Within(std::chrono::milliseconds span) {
    timer_.Start(span, [this] { Abort(); });
  }

  void ReadHead() {
    parser_.emplace();
    parser_->header_limit(kMaxHead);
    parser_->body_limit(kMaxFrame);
    late_ = false;
    timer_.Start(serving_->limits.head, [this] {
      late_ = true;
      error_code ignored;
      beast::get_lowest_layer(stream_).cancel(ignored);
    });
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](
                                const error_code& error, std::size_t) { self->OnHead(error); });
  }

  void Abort() override {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  void Answer(int status, const Headers& headers, std::string body) override {
    // Whom nobody let in is not heard again on this connection.
    const bool refused = status == kUnauthorized || status == kForbidden;
    if (!refused) Prove();
    const bool keep_alive = parser_->keep_alive() && slot_->proven();
    const ReplyForm form{.status = status, .length = body.size(), .keep_alive = keep_alive};
    out_ = ReplyHead(form, headers);
    if (HasBody(status) && !IsHead()) out_ += body;
    WriteReply(keep_alive);
  }

  std::unique_ptr<Channel> AnswerStream(int status, const Headers& headers) override {
    Prove();
    const bool chunks = parser_->get().version() >= 11;
    const ReplyForm form{.status = status, .framing = chunks ? Framing::kChunks : Framing::kClose};
    typename HttpStream<Stream>::Options options{.head = ReplyHead(form, headers),
                                                 .chunks = chunks,
                                                 .head_only = IsHead(),
                                                 .slot = std::move(slot_)};
    timer_.Cancel();
    const auto link = std::make_shared<HttpStream<Stream>>(serving_->loop, std::move(stream_),
                                                           std::move(options));
    link->Begin();
    return MakeChannel(link);
  }

 private:
  void Prove() {
    slot_->Prove();
    proving_.Cancel();
  }
  [[nodiscard]] bool Compresses() const {
    if (peer_.local) return false;
    const bool loopback = peer_.address.starts_with("127.") || peer_.address.starts_with("[::1]");
    return !loopback || serving_->limits.compress_loopback;
  }
  [[nodiscard]] bool IsHead() const { return parser_->get().method() == http::verb::head; }

  void OnHead(const error_code& error) {
    timer_.Cancel();
    const auto events = serving_->events;
    if (!events) return;
    if (late_) return Refuse(408, "the request took too long");
    if (error) return RefuseUnread(error);
    Result<HttpRequest> request = RequestOf(*parser_, peer_);
    if (!request) return Refuse(400, request.error().message);
    if (const Status admitted = events->admit(*request); !admitted)
      return Refuse(RefusalStatus(admitted.error().code), admitted.error().message);
    if (!serving_->events) return;
    if (websocket::is_upgrade(parser_->get())) return Upgrade(request->path);
    request_ = *std::move(request);
    Invite();
  }

  void Upgrade(const std::string& path) {
    if (path != "/ws") return Refuse(404, "there is no WebSocket at this path");
    if (buffer_.size() > 0 || !parser_->is_done())
      return Refuse(400, "nothing may follow before the connection is upgraded");
    proving_.Cancel();  // From here on the channel's owner has a clock for it.
    typename WebSocketLink<Stream>::Options options{
        .compress = Compresses(), .limits = serving_->limits, .slot = std::move(slot_)};
    const auto link = std::make_shared<WebSocketLink<Stream>>(serving_->loop, std::move(stream_),
                                                              std::move(options));
    link->Accept(parser_->get(), [weak = std::weak_ptr(link), serving = serving_,
                                  peer = peer_](const error_code& error) {
      const auto events = serving->events;
      const auto opened = weak.lock();
      if (!error && events && opened) events->channel(MakeChannel(opened), peer);
    });
  }

  void Invite() {
    if (parser_->is_done() || request_.Header("expect") != "100-continue") return ReadBody();
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    Within(serving_->limits.head);
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this()](const error_code& error, std::size_t) {
                        if (!error) self->ReadBody();
                      });
  }

  void ReadBody() {
    Within(serving_->limits.body);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](const error_code& error, std::size_t) {
                       self->OnBody(error);
                     });
  }

  void OnBody(const error_code& error) {
    timer_.Cancel();
    const auto events = serving_->events;
    if (!events) return;
    if (error) return RefuseUnread(error);
    request_.body = std::move(parser_->get().body());
    events->request(std::exchange(request_, {}), MakeReply(this->shared_from_this()));
  }

  void RefuseUnread(const error_code& error) {
    if (const int status = StatusOf(error)) Refuse(status, "the request cannot be read");
  }

  /// Whatever else the peer has to say is not heard any more.
  void Refuse(int status, std::string_view why) {
    const std::string body = RefusalBody(status, why);
    const Headers headers = {{"Content-Type", "application/json"}};
    out_ = ReplyHead({.status = status, .length = body.size()}, headers) + body;
    WriteReply(false);
  }

  void WriteReply(bool keep_alive) {
    Within(serving_->limits.body);
    asio::async_write(
        stream_, asio::buffer(out_),
        [self = this->shared_from_this(), keep_alive](const error_code& error, std::size_t) {
          if (error) return self->Abort();
          self->out_ = std::string();
          keep_alive ? self->AwaitRequest() : self->Linger();
        });
  }

  void AwaitRequest() {
    if (buffer_.size() > 0) return ReadHead();
    Within(serving_->limits.silence);
    stream_.async_read_some(
        buffer_.prepare(kPiece),
        [self = this->shared_from_this()](const error_code& error, std::size_t size) {
          if (error) return;
          self->buffer_.commit(size);
          self->ReadHead();
        });
  }

  /// Closing a socket that has unread bytes could take the reply away from its reader.
  void Linger() {
    error_code ignored;
    beast::get_lowest_layer(stream_).shutdown(asio::socket_base::shutdown_send, ignored);
    buffer_.clear();
    Within(kLingerTime);
    Discard();
  }

  void Discard() {
    stream_.async_read_some(buffer_.prepare(kPiece), [self = this->shared_from_this()](
                                                         const error_code& error, std::size_t) {
      if (!error) self->Discard();
    });
  }

  std::shared_ptr<Serving> serving_;
  std::shared_ptr<Slot> slot_;
  Stream stream_;
  Peer peer_;
  Timer timer_;
  Timer proving_;  // Until somebody has let the peer in.
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;  // Of the request at hand.
  HttpRequest request_;
  std::string out_;
  bool late_ = false;  // The head did not come in time.
};

}  // namespace stet::rpc
