// The HTTP and WebSocket library, for the files that speak it: plain.cc and tls.cc and the
// templates that they instantiate. It is slow to compile, so everything stands there once for
// sockets (TCP and unix are the same type) and once for TLS.
//
// Its functions are called with an error_code, so that nothing of it throws.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket.hpp>

#include "base/result.h"

namespace stet::rpc {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;

using beast::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

inline std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

/// Why a connection ended: kTimeout, kInvalid (the peer broke the rules) or kUnavailable.
Error ErrorOf(const error_code& error);

}  // namespace stet::rpc
