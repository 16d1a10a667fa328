// JSON-RPC 2.0 as the Agent Client Protocol speaks it: one message a line, told apart and written.
// Pure.
//
// Whatever a line says becomes a Message; what makes no sense is a Fault, which has the answer that
// it deserves. Lines that are written are one line of valid JSON, given without its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"

namespace stet::acp {

namespace rpc {
inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kNoMethod = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternal = -32603;
inline constexpr std::int64_t kCancelled = -32800;
inline constexpr std::int64_t kAuthRequired = -32000;
inline constexpr std::int64_t kNotFound = -32002;
}  // namespace rpc

struct Request {
  Raw id;  // A string, an integer or null; goes back as it came.
  std::string method;
  Raw params;
};

struct Notification {
  std::string method;
  Raw params;
};

/// The answer to a request of ours.
struct Response {
  std::string id;
  Raw result;
  std::optional<std::string> error;  // Its message.
};

struct Fault {
  Raw id;  // Null when it could not be read.
  std::int64_t code = rpc::kInvalidRequest;
  std::string message;
};

using Message = std::variant<Request, Notification, Response, Fault>;

Message ReadMessage(std::string_view line);

/// The code under which the protocol knows an error of ours.
std::int64_t RpcCode(Code code);

// `params` and `result` are JSON values.
std::string ResultLine(const Raw& id, std::string_view result);
std::string ErrorLine(const Raw& id, std::int64_t code, std::string_view message);
std::string ErrorLine(const Raw& id, const Error& error);
std::string RequestLine(std::string_view id, std::string_view method, std::string_view params);
std::string NotificationLine(std::string_view method, std::string_view params);

}  // namespace stet::acp
