// HttpStream: a channel that is the body of an HTTP reply. The connection ends with it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "rpc/beast.h"
#include "rpc/http_text.h"
#include "rpc/link.h"

namespace stet::rpc {

template <class Stream>
class HttpStream final : public Link {
 public:
  struct Options {
    std::string head;
    bool chunks = true;      // Else the body ends with the connection.
    bool head_only = false;  // The request was HEAD.
    std::shared_ptr<Slot> slot;
  };

  HttpStream(Loop& loop, Stream stream, Options options)
      : Link(loop), stream_(std::move(stream)), options_(std::move(options)) {}

  /// Sends the head.
  void Begin() {
    HoldWrites();
    asio::async_write(stream_, asio::buffer(options_.head),
                      [self = Self()](const error_code& error, std::size_t) {
                        error ? self->End(ErrorOf(error)) : self->ReleaseWrites();
                      });
  }

 private:
  std::shared_ptr<HttpStream> Self() {
    return std::static_pointer_cast<HttpStream>(shared_from_this());
  }

  /// What comes is of no interest, but its end is.
  void Read() override {
    stream_.async_read_some(asio::buffer(ignored_),
                            [self = Self()](const error_code& error, std::size_t) {
                              if (error) return self->End(ErrorOf(error));
                              if (!self->over()) self->Read();
                            });
  }

  void Write(const std::string& frame) override {
    // An empty chunk would be the last one.
    const bool nothing = frame.empty() || options_.head_only;
    size_line_ = options_.chunks ? fmt::format("{:x}\r\n", frame.size()) : "";
    const std::string_view line_end = options_.chunks ? "\r\n" : "";
    const std::array<asio::const_buffer, 3> parts = {
        asio::buffer(size_line_), asio::buffer(frame),
        asio::buffer(line_end.data(), line_end.size())};
    const std::array<asio::const_buffer, 3> none;
    asio::async_write(stream_, nothing ? none : parts,
                      [self = Self()](const error_code& error, std::size_t) {
                        error ? self->End(ErrorOf(error)) : self->Written();
                      });
  }

  void SayClose(const Error&) override {
    const std::string_view last = options_.chunks && !options_.head_only ? "0\r\n\r\n" : "";
    asio::async_write(stream_, asio::buffer(last.data(), last.size()),
                      [self = Self()](const error_code& error, std::size_t) {
                        if (error) return self->End(ErrorOf(error));
                        self->AwaitPeer();
                      });
  }

  /// The peer closes once it has read everything; closing first could take the end away from it.
  void AwaitPeer() {
    error_code ignored;
    beast::get_lowest_layer(stream_).shutdown(asio::socket_base::shutdown_send, ignored);
    if (!reading()) Read();
  }

  void Abort() override {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  Stream stream_;
  Options options_;
  std::string size_line_;
  std::array<char, 512> ignored_;
};

}  // namespace stet::rpc
