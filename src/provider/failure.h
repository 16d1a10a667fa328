// Failure: why a model call did not succeed, as something the loop can act on; and the one place
// that reads providers' error replies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "provider/model.h"

namespace stet::provider {

/// Named for what the caller does about it.
enum class FailureKind {
  kOverflow,     // The request is larger than the model's window: compact.
  kAuth,         // The key is missing or refused: bring one.
  kQuota,        // The account has no money or no quota left: retrying does not help.
  kRateLimited,  // Too many requests just now: wait.
  kOverloaded,   // The server is too busy: wait, or use another model.
  kRefused,      // A content filter refused the request.
  kBadRequest,   // The server does not accept the request: it is our bug or its quirk.
  kNotFound,     // No such model or path.
  kTooLarge,     // The body is larger than the server takes.
  kServer,       // The server failed.
  kNetwork,      // The connection could not be made, or broke.
  kTimeout,      // A clock ran out.
  kTruncated,    // The stream ended without its end mark.
  kGarbled,      // What came cannot be read, or is nothing: as if the connection had broken.
  kProtocol,     // The reply can be read, and is not what the dialect says.
  kCancelled,    // We were asked to stop.
};

/// "overflow", ...
std::string_view FailureName(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::kServer;
  std::string message;  // For people; never has a key in it.
  int status = 0;       // HTTP; 0 when there was none.
  std::string request_id;
  std::optional<bool> should_retry;            // What the server said, if it did.
  std::optional<std::int64_t> retry_after_ms;  // What the server asked for.
};

/// A reply with an error status, or a body that is an error in spite of status 200.
Failure FailureFromResponse(int status, const Headers& headers, std::string_view body,
                            std::int64_t now_ms);

/// An error object met in a stream: {"type"|"code"|"status", "message"}, as its JSON text.
Failure FailureFromObject(std::string_view error_json);

}  // namespace stet::provider
