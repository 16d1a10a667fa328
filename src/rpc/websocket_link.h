// WebSocketLink: a channel over a WebSocket, in either role.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "rpc/beast.h"
#include "rpc/limits.h"
#include "rpc/link.h"
#include "rpc/serving.h"

namespace stet::rpc {

/// A message below it costs more to compress than it saves.
inline constexpr std::size_t kCompressFrom = 256;
/// What is masked or compressed goes out in pieces of this size.
inline constexpr std::size_t kWritePiece = std::size_t{16} << 10;
/// A larger buffer is given back once its message is handled.
inline constexpr std::size_t kKeptBuffer = std::size_t{64} << 10;
/// The most that a close frame can carry.
inline constexpr std::size_t kMaxReason = 123;

template <class Stream>
class WebSocketLink final : public Link {
 public:
  using Done = std::function<void(const error_code& error)>;

  struct Options {
    bool compress = false;  // If the peer likes it too.
    Limits limits;
    std::shared_ptr<Slot> slot;  // Kept as long as the connection is there.
  };

  WebSocketLink(Loop& loop, Stream stream, Options options)
      : Link(loop), stream_(std::move(stream)), slot_(std::move(options.slot)) {
    websocket::permessage_deflate deflate;
    deflate.server_enable = deflate.client_enable = options.compress;
    deflate.compLevel = 1;
    deflate.msg_size_threshold = kCompressFrom;
    stream_.set_option(deflate);
    websocket::stream_base::timeout timeout;
    timeout.handshake_timeout = options.limits.head;
    timeout.idle_timeout = options.limits.silence;
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    stream_.read_message_max(kMaxFrame);
    stream_.write_buffer_bytes(kWritePiece);
    stream_.auto_fragment(false);
    stream_.text(true);
  }

  /// The server's hand-shake.
  template <class Request>
  void Accept(const Request& request, Done done) {
    stream_.async_accept(
        request, [self = Self(), done = std::move(done)](const error_code& error) { done(error); });
  }

  /// The client's. After an error, `status` says what the server answered; 0: not even that.
  void Shake(const std::string& host, const std::string& path, Done done) {
    stream_.read_message_max(kMaxFromServer);
    stream_.async_handshake(
        answer_, host, path,
        [self = Self(), done = std::move(done)](const error_code& error) { done(error); });
  }
  [[nodiscard]] int status() const { return static_cast<int>(answer_.result_int()); }

  void BoundFrames(std::size_t most) override { stream_.read_message_max(most); }
  void Prove() override {
    if (slot_) slot_->Prove();
  }

  void Abort() override {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  Stream& stream() { return stream_.next_layer(); }

 private:
  std::shared_ptr<WebSocketLink> Self() {
    return std::static_pointer_cast<WebSocketLink>(shared_from_this());
  }

  void Read() override {
    stream_.async_read(
        in_, [self = Self()](const error_code& error, std::size_t) { self->OnRead(error); });
  }

  void OnRead(const error_code& error) {
    if (error) return End(error == websocket::error::closed ? PeerClosed() : ErrorOf(error));
    const std::string_view message(static_cast<const char*>(in_.data().data()), in_.size());
    // Beast looks at every part but an empty last one, before which a character may be cut.
    if (!stream_.got_text() || !IsValidUtf8(message)) return Refuse("the message is not text");
    Received(message);
    in_.consume(in_.size());
    if (in_.capacity() > kKeptBuffer) in_ = beast::flat_buffer();
    if (!over()) Read();
  }

  [[nodiscard]] Error PeerClosed() const {
    const auto& text = stream_.reason().reason;
    const std::string_view reason(text.data(), text.size());
    return {Code::kUnavailable,
            reason.empty() ? "the other side closed the connection" : ReplaceInvalidUtf8(reason)};
  }

  void Write(const std::string& frame) override {
    stream_.async_write(asio::buffer(frame), [self = Self()](const error_code& error, std::size_t) {
      error ? self->End(ErrorOf(error)) : self->Written();
    });
  }

  void SayClose(const Error& why) override {
    const auto code = why.code == Code::kInvalid ? websocket::close_code::unknown_data
                                                 : websocket::close_code::normal;
    const std::string text = ReplaceInvalidUtf8(why.message);
    const beast::string_view part(text.data(), Utf8PrefixLength(text, kMaxReason));
    stream_.async_close(websocket::close_reason(code, part),
                        [self = Self()](const error_code& error) {
                          self->End(error ? ErrorOf(error) : self->PeerClosed());
                        });
  }

  websocket::stream<Stream> stream_;
  websocket::response_type answer_;  // To the client's hand-shake.
  beast::flat_buffer in_;
  std::shared_ptr<Slot> slot_;
};

}  // namespace stet::rpc
