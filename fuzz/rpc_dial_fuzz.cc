// Arbitrary bytes from a server that is dialled: as its answer to the hand-shake, or as what
// follows one. Dialling ends, and so does the channel.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/loop.h"
#include "base/loop_context.h"
#include "base/result.h"
#include "base/utf8.h"
#include "rpc/beast.h"
#include "rpc/limits.h"

namespace stet::fuzz {
namespace {

using rpc::error_code;
using rpc::Socket;
using WebSocket = rpc::websocket::stream<Socket>;

/// Listens, and says what the input says.
class Source {
 public:
  explicit Source(Loop& loop)
      : loop_(loop),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
        watch_(loop, listener_.get(), [this](bool, bool) { Accept(); }) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    CHECK(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 8) == 0 &&
              ::getsockname(listener_.get(), any, &size) == 0,
          "loopback can be listened on");
    port_ = ntohs(address.sin_port);
    watch_.Want(true, false);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void Say(std::string bytes, bool shakes) {
    bytes_ = std::move(bytes);
    shakes_ = shakes;
  }

 private:
  void Accept() {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    error_code error;
    Socket socket(LoopContext::Of(loop_));
    (void)socket.assign(rpc::asio::generic::stream_protocol(AF_INET, 0), fd, error);
    CHECK(!error, "an accepted socket can be used");
    auto stream = std::make_shared<WebSocket>(std::move(socket));
    rpc::websocket::permessage_deflate deflate;
    deflate.server_enable = true;
    stream->set_option(deflate);
    if (!shakes_) return Write(stream);
    stream->async_accept([this, stream](const error_code& failed) {
      if (!failed) Write(stream);
    });
  }

  void Write(const std::shared_ptr<WebSocket>& stream) {
    auto bytes = std::make_shared<const std::string>(bytes_);
    rpc::asio::async_write(stream->next_layer(), rpc::asio::buffer(*bytes),
                           [stream, bytes](const error_code&, std::size_t) {
                             error_code ignored;
                             (void)stream->next_layer().shutdown(Socket::shutdown_send, ignored);
                             Drain(stream, std::make_shared<std::string>(65536, '\0'));
                           });
  }

  static void Drain(const std::shared_ptr<WebSocket>& stream,
                    const std::shared_ptr<std::string>& sink) {
    stream->next_layer().async_read_some(rpc::asio::buffer(*sink),
                                         [stream, sink](const error_code& error, std::size_t) {
                                           if (!error) Drain(stream, sink);
                                         });
  }

  Loop& loop_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::string bytes_;
  bool shakes_ = false;
  FdWatch watch_;
};

Async<void> Listen(Loop& loop, std::uint16_t port) {
  rpc::Endpoint endpoint{.host = "127.0.0.1", .port = port};
  auto channel = co_await rpc::Dial(loop, std::move(endpoint), CancelToken());
  if (!channel) co_return;
  const Pending<bool> closed(loop);
  rpc::ChannelEvents events{.frame =
                                [](std::string_view frame) {
                                  CHECK(IsValidUtf8(frame), "a frame is text");
                                  CHECK(frame.size() <= rpc::kMaxFrame, "a frame is bounded");
                                },
                            .closed = [closed](const Error&) { closed.Set(true); }};
  (*channel)->Start(std::move(events));
  (*channel)->Send("hello");
  co_await closed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& loop = *new Loop;
  static auto& source = *new Source(loop);
  if (size == 0) return 0;
  source.Say({reinterpret_cast<const char*>(data) + 1, size - 1}, (data[0] & 1) != 0);
  loop.RunUntilDone(Listen(loop, source.port()));
  return 0;
}

}  // namespace stet::fuzz
