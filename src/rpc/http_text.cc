#include "rpc/http_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "json/writer.h"

namespace stet::rpc {
namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool IsControl(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    const auto high = HexDigit(text[at + 1]);
    const auto low = HexDigit(text[at + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  return out;
}

std::string_view Phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? x + 32 : x) == (y >= 'A' && y <= 'Z' ? y + 32 : y);
  });
}

/// Whether a header may stand in a head as the caller has it.
bool IsPlain(const std::string& name, const std::string& value) {
  const auto is_token = [](char c) { return c > ' ' && c < 0x7f && c != ':'; };
  if (name.empty() || !std::ranges::all_of(name, is_token)) return false;
  if (std::ranges::any_of(value, IsControl)) return false;
  return std::ranges::none_of(
      std::initializer_list<std::string_view>{"content-length", "transfer-encoding", "connection"},
      [&](std::string_view own) { return EqualsIgnoringCase(name, own); });
}

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return "";
}

Result<Target> ParseTarget(std::string_view target) {
  if (target == "*") return Target{"*", ""};
  if (!target.starts_with('/')) return Fail(Code::kInvalid, "the target of the request is no path");
  const std::size_t question = target.find('?');
  auto path = PercentDecoded(target.substr(0, question));
  if (!path || !IsValidUtf8(*path) || std::ranges::any_of(*path, IsControl))
    return Fail(Code::kInvalid, "the path of the request is not well-formed");
  return Target{*std::move(path),
                question == std::string_view::npos ? "" : std::string(target.substr(question + 1))};
}

Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto decoded = [](std::string_view part) -> Result<std::string> {
    std::string text(part);
    std::ranges::replace(text, '+', ' ');
    std::optional<std::string> plain = PercentDecoded(text);
    if (!plain || !IsValidUtf8(*plain) || std::ranges::any_of(*plain, IsControl))
      return Fail(Code::kInvalid, "the query of the request is not well-formed");
    return *std::move(plain);
  };
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    ASSIGN_OR_RETURN(std::string name, decoded(part.substr(0, equals)));
    ASSIGN_OR_RETURN(std::string value, decoded(part.substr(std::min(equals + 1, part.size()))));
    out.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

std::string ReplyHead(const ReplyForm& form, const Headers& headers) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", form.status, Phrase(form.status));
  for (const auto& [name, value] : headers)
    if (IsPlain(name, value)) head += fmt::format("{}: {}\r\n", name, value);
  if (form.framing == Framing::kChunks) head += "Transfer-Encoding: chunked\r\n";
  if (form.framing == Framing::kLength && HasBody(form.status))
    head += fmt::format("Content-Length: {}\r\n", form.length);
  head += form.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

int RefusalStatus(Code code) {
  switch (code) {
    case Code::kDenied: return 403;
    case Code::kAuth: return 401;
    default: return 400;
  }
}

std::string RefusalBody(int status, std::string_view why) {
  const auto code = [&] {
    switch (status) {
      case 401: return Code::kAuth;
      case 403: return Code::kDenied;
      case 404: return Code::kNotFound;
      case 408: return Code::kTimeout;
      case 413:
      case 431: return Code::kFull;
      case 500: return Code::kIo;
      case 503: return Code::kBusy;
      default: return Code::kInvalid;
    }
  }();
  std::string body;
  JsonWriter(body)
      .BeginObject()
      .Member("code", CodeName(code))
      .Member("message", ReplaceInvalidUtf8(why))
      .EndObject();
  return body + "\n";
}

Error RefusalError(int status) {
  const Code code = status == 401   ? Code::kAuth
                    : status == 403 ? Code::kDenied
                                    : Code::kUnavailable;
  return {code, fmt::format("the host refused the connection (HTTP status {})", status)};
}

}  // namespace stet::rpc
