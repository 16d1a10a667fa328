// JSON-RPC 2.0, one message a line: told apart and written. Pure.
//
// Whatever a line says becomes a Message; what makes no sense is a Fault, which has the answer that
// it deserves. Lines that are written are one line of valid JSON, given without its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "json/json.h"

namespace stet::rpc {

inline constexpr std::int64_t kParseError = -32700;
inline constexpr std::int64_t kInvalidRequest = -32600;
inline constexpr std::int64_t kNoMethod = -32601;
inline constexpr std::int64_t kInvalidParams = -32602;
inline constexpr std::int64_t kInternal = -32603;
/// The first of those that a protocol names itself.
inline constexpr std::int64_t kRefused = -32000;

struct Request {
  Raw id;  // A string, an integer or null; goes back as it came.
  std::string method;
  Raw params;  // null when there are none.
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
  std::int64_t code = kInvalidRequest;
  std::string message;
};

using Message = std::variant<Request, Notification, Response, Fault>;

/// The id of the request of which `beginning` is all that there is; null when that does not tell
/// it, or when it may be no request.
Raw RequestIdIn(std::string_view beginning);

/// How much of the specification the other side must keep to.
enum class Reading {
  kStrict,   // All of it.
  kLenient,  // One JSON object; what it leaves out is as if it were there.
};

Message ReadMessage(std::string_view line, Reading reading = Reading::kStrict);

// `params`, `result` and `data` are JSON values; no data when it is empty.
std::string ResultLine(const Raw& id, std::string_view result);
std::string ErrorLine(const Raw& id, std::int64_t code, std::string_view message,
                      std::string_view data = "");
std::string RequestLine(const Raw& id, std::string_view method, std::string_view params);
std::string NotificationLine(std::string_view method, std::string_view params);

}  // namespace stet::rpc
