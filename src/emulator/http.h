// HttpReader: reads HTTP/1.1 requests from one connection, one after the other.
//
// It belongs to the thread of its connection and does not own the descriptor. A request is read
// whole, under the caps below; "Expect: 100-continue" is answered. Failures: kCancelled when the
// client is gone, kFull when the request is too large, kInvalid when it is no HTTP.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emulator/script.h"

namespace stet::emulator {

inline constexpr std::size_t kMaxHeadBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxBodyBytes = std::size_t{64} << 20;

struct HttpRequest {
  std::string method;
  std::string target;  // The path with its query.
  Headers headers;     // Names in lower case.
  std::string body;
  bool keep_alive = true;

  /// The target without its query.
  [[nodiscard]] std::string_view path() const {
    return std::string_view(target).substr(0, target.find('?'));
  }
  /// The first header of that name; empty when there is none.
  [[nodiscard]] std::string_view Header(std::string_view name) const;
};

/// Parses a request line and headers, without the empty line that ends them.
Result<HttpRequest> ParseHead(std::string_view head);

class HttpReader {
 public:
  explicit HttpReader(int fd) : fd_(fd) {}

  Result<HttpRequest> Next();

 private:
  Status Fill();
  Result<std::string> TakeLine();
  Status TakeBytes(std::size_t count, std::string& out);
  Status TakeChunks(std::string& out);

  int fd_;
  std::string buffer_;
};

}  // namespace stet::emulator
