#include "emulator/http.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <sys/socket.h>

#include "base/text.h"

namespace stet::emulator {
namespace {

constexpr std::size_t kReadBytes = std::size_t{256} << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

Result<std::size_t> ParseSize(std::string_view text, int base) {
  std::size_t size = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error == std::errc::result_out_of_range || (error == std::errc() && size > kMaxBodyBytes)) {
    return Fail(Code::kFull, "the request is larger than 64 MB");
  }
  if (error != std::errc() || stop != text.data() + text.size()) {
    return Fail(Code::kInvalid, "a length is no number");
  }
  return size;
}

Status ParseHeaderLine(std::string_view line, HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return Fail(Code::kInvalid, "a header has no name");
  }
  request.headers.emplace_back(Lower(line.substr(0, colon)), Trimmed(line.substr(colon + 1)));
  return {};
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Headers::value_type::first);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

Result<HttpRequest> ParseHead(std::string_view head) {
  const std::size_t line_end = std::min(head.find("\r\n"), head.size());
  const std::string_view line = head.substr(0, line_end);
  const std::size_t target = line.find(' ');
  const std::size_t version = line.rfind(' ');
  if (target == std::string_view::npos || version == target ||
      !line.substr(version + 1).starts_with("HTTP/1.")) {
    return Fail(Code::kInvalid, "this is no HTTP/1.1 request");
  }
  HttpRequest request;
  request.method = line.substr(0, target);
  request.target = line.substr(target + 1, version - target - 1);
  for (std::size_t at = line_end + 2; at < head.size();) {
    const std::size_t end = std::min(head.find("\r\n", at), head.size());
    RETURN_IF_ERROR(ParseHeaderLine(head.substr(at, end - at), request));
    at = end + 2;
  }
  const std::string connection = Lower(request.Header("connection"));
  request.keep_alive = connection != "close" && !line.ends_with("HTTP/1.0");
  return request;
}

Status HttpReader::Fill() {
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kReadBytes);
  ssize_t got = 0;
  do {
    got = ::recv(fd_, buffer_.data() + old, kReadBytes, 0);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got <= 0) return Fail(Code::kCancelled, "the client is gone");
  return {};
}

Result<std::string> HttpReader::TakeLine() {
  std::size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (buffer_.size() > kMaxHeadBytes) return Fail(Code::kInvalid, "a chunk has no length");
    RETURN_IF_ERROR(Fill());
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

Status HttpReader::TakeBytes(std::size_t count, std::string& out) {
  while (buffer_.size() < count) RETURN_IF_ERROR(Fill());
  out.append(buffer_, 0, count);
  buffer_.erase(0, count);
  return {};
}

Status HttpReader::TakeChunks(std::string& out) {
  while (true) {
    ASSIGN_OR_RETURN(const std::string line, TakeLine());
    const std::string_view digits = std::string_view(line).substr(0, line.find(';'));
    ASSIGN_OR_RETURN(const std::size_t size, ParseSize(Trimmed(digits), 16));
    if (size == 0) break;
    if (size > kMaxBodyBytes - out.size()) {
      return Fail(Code::kFull, "the request is larger than 64 MB");
    }
    RETURN_IF_ERROR(TakeBytes(size, out));
    ASSIGN_OR_RETURN(const std::string rest, TakeLine());
    if (!rest.empty()) return Fail(Code::kInvalid, "a chunk is longer than its length");
  }
  // Trailers say nothing that matters here; an empty line ends them.
  for (std::size_t trailers = 0; trailers < kMaxHeadBytes;) {
    ASSIGN_OR_RETURN(const std::string line, TakeLine());
    if (line.empty()) return {};
    trailers += line.size();
  }
  return Fail(Code::kInvalid, "the trailers do not end");
}

Result<HttpRequest> HttpReader::Next() {
  std::size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (buffer_.size() > kMaxHeadBytes) return Fail(Code::kInvalid, "the headers are too long");
    RETURN_IF_ERROR(Fill());
  }
  ASSIGN_OR_RETURN(HttpRequest request, ParseHead(std::string_view(buffer_).substr(0, end)));
  buffer_.erase(0, end + 4);
  const bool chunked = Lower(request.Header("transfer-encoding")) == "chunked";
  std::size_t length = 0;
  if (const std::string_view text = request.Header("content-length"); !chunked && !text.empty()) {
    ASSIGN_OR_RETURN(length, ParseSize(text, 10));
  }
  if (Lower(request.Header("expect")) == "100-continue") {
    // A failure shows when the body is read.
    (void)::send(fd_, kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
  }
  RETURN_IF_ERROR(chunked ? TakeChunks(request.body) : TakeBytes(length, request.body));
  return request;
}

}  // namespace stet::emulator
