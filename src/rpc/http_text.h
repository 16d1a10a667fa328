// The texts of HTTP: targets read, heads of replies written. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "rpc/server.h"

namespace stet::rpc {

struct Target {
  std::string path;  // Percent-decoded, valid UTF-8 without control characters.
  std::string query;
};

/// Of a request line: "/a%20b?c=d", or "*". Anything else, such as a whole URL, is kInvalid.
Result<Target> ParseTarget(std::string_view target);

/// "a=1&b=x%20y" -> {{"a", "1"}, {"b", "x y"}}; "+" is a blank. kInvalid when it is not
/// well-formed.
Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query);

/// What a body's end is known by.
enum class Framing { kLength, kChunks, kClose };

struct ReplyForm {
  int status = 200;
  Framing framing = Framing::kLength;
  std::size_t length = 0;  // For kLength.
  bool keep_alive = false;
};

/// The head, with the empty line. Those of `headers` that the form decides (Content-Length,
/// Transfer-Encoding, Connection), and what could not stand in a head, are left out.
std::string ReplyHead(const ReplyForm& form, const Headers& headers);

/// False for the statuses that never have a body.
bool HasBody(int status);

/// The status that tells a refusal of that kind.
int RefusalStatus(Code code);

/// The body that tells a refusal: an error of the wire as JSON, and a line end.
std::string RefusalBody(int status, std::string_view why);

/// What a refused handshake means.
Error RefusalError(int status);

}  // namespace stet::rpc
