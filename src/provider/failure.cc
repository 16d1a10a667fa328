#include "provider/failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "json/view.h"

namespace stet::provider {
namespace {

constexpr std::size_t kMaxMessage = 2000;
constexpr int kTooManyRequests = 429;
constexpr std::string_view kNoExplanation = "no explanation";

/// What an error reply says of itself. `words` is everything in it that names a kind, in lower
/// case.
struct Saying {
  std::string message;
  std::string words;
};

std::string Bounded(std::string_view text) {
  std::string valid = ReplaceInvalidUtf8(text.substr(0, 2 * kMaxMessage));
  if (valid.size() > kMaxMessage) {
    valid.resize(Utf8PrefixLength(valid, kMaxMessage));
    valid += "...";
  }
  return valid;
}

/// A member's text, whether it is a string or a number.
std::string Word(const JsonView& member) {
  return member.is_string() ? member.StringOr("") : std::string(member.text());
}

/// The value itself or, of arrays however deep, the first value that is none.
JsonView FirstInside(const JsonView& body) {
  JsonReader reader(body.text());
  while (reader.Peek() == JsonReader::Kind::kArray) {
    if (!reader.EnterArray() || !reader.NextElement()) return {};
  }
  std::string_view raw;
  return reader.Skip(&raw) ? JsonView(raw) : JsonView();
}

/// Where the error's own members are: `{"error":{..}}`, `[{"error":{..}}]`, or the object itself.
JsonView ErrorObject(const JsonView& body) {
  const JsonView object = FirstInside(body);
  const JsonView inner = object["error"];
  return inner && !inner.is_null() ? inner : object;
}

Saying Read(const JsonView& error) {
  Saying saying;
  if (error.is_string()) {
    saying.message = error.StringOr("");
  } else {
    for (const std::string_view name : {"message", "detail", "msg", "error_description"}) {
      if (saying.message.empty()) saying.message = error[name].StringOr("");
    }
    for (const std::string_view name : {"type", "code", "status", "reason"})
      saying.words += Word(error[name]) + " ";
    // OpenRouter hands on what the model's own provider said.
    const std::string raw = Word(error["metadata"]["raw"]);
    if (!raw.empty()) saying.message += saying.message.empty() ? raw : ": " + raw;
  }
  saying.words = Lower(saying.words + saying.message);
  return saying;
}

template <std::size_t N>
bool SaysAny(const std::string& words, const std::array<std::string_view, N>& phrases) {
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return words.find(phrase) != std::string::npos; });
}

// A request that does not fit is told by text alone on most servers.
constexpr std::array<std::string_view, 18> kOverflowPhrases = {
    "context_length_exceeded",
    "context length",
    "context window",
    "context limit",
    "context size",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input token count",
    "too many input tokens",
    "maximum prompt length",
    "maximum number of tokens allowed",
    "reduce the length of the messages",
    "exceeds the maximum input length",
    "exceeds the limit of input tokens",
    "longer than the model's",
};
constexpr std::array<std::string_view, 9> kQuotaPhrases = {
    "insufficient_quota", "billing",          "credit balance",       "exceeded your current quota",
    "insufficient funds", "payment required", "insufficient balance", "out of credits",
    "spending limit",
};
constexpr std::array<std::string_view, 8> kRefusalPhrases = {
    "content_filter", "content filter", "content_policy", "content management policy",
    "invalid_prompt", "responsible ai", "safety system",  "data_inspection_failed",
};
constexpr std::array<std::string_view, 5> kOverloadPhrases = {
    "overloaded", "at capacity", "unavailable", "server is busy", "loading model",
};
constexpr std::array<std::string_view, 4> kRatePhrases = {
    "rate_limit",
    "rate limit",
    "resource_exhausted",
    "too many requests",
};
constexpr std::array<std::string_view, 5> kAuthPhrases = {
    "authentication_error", "invalid_api_key",   "permission_error",
    "unauthenticated",      "permission_denied",
};
constexpr std::array<std::string_view, 3> kBadPhrases = {
    "invalid_request",
    "invalid_argument",
    "bad_request",
};
constexpr std::array<std::string_view, 3> kMissingPhrases = {
    "not_found",
    "model_not_found",
    "does not exist",
};

FailureKind KindByWords(const std::string& words, FailureKind otherwise) {
  if (SaysAny(words, kOverloadPhrases)) return FailureKind::kOverloaded;
  if (SaysAny(words, kRatePhrases)) return FailureKind::kRateLimited;
  if (SaysAny(words, kAuthPhrases)) return FailureKind::kAuth;
  if (SaysAny(words, kMissingPhrases)) return FailureKind::kNotFound;
  if (SaysAny(words, kBadPhrases)) return FailureKind::kBadRequest;
  return otherwise;
}

FailureKind KindByStatus(int status, const std::string& words) {
  switch (status) {
    case 400:
    case 422: return FailureKind::kBadRequest;
    case 401:
    case 403: return FailureKind::kAuth;
    case 402: return FailureKind::kQuota;
    case 404: return FailureKind::kNotFound;
    case 408:
    case 504: return FailureKind::kTimeout;
    case 413: return FailureKind::kTooLarge;
    case kTooManyRequests: return FailureKind::kRateLimited;
    case 503:
    case 529: return FailureKind::kOverloaded;
    default: break;
  }
  if (status >= 500) return KindByWords(words, FailureKind::kServer);
  if (status >= 400) return status == 409 ? FailureKind::kServer : FailureKind::kBadRequest;
  return KindByWords(words, FailureKind::kServer);
}

FailureKind KindOf(int status, const std::string& words, bool asked_to_wait) {
  const bool rate = status == kTooManyRequests;
  if (!rate && SaysAny(words, kOverflowPhrases)) return FailureKind::kOverflow;
  // A quota that is back in a minute is a rate limit.
  if (!asked_to_wait && SaysAny(words, kQuotaPhrases)) return FailureKind::kQuota;
  if (!rate && SaysAny(words, kRefusalPhrases)) return FailureKind::kRefused;
  return KindByStatus(status, words);
}

std::optional<std::string_view> Find(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (Lower(key) == name) return value;
  }
  return std::nullopt;
}

/// "1.5" with a unit of `millis` each; absent when it is no number or a negative one.
std::optional<std::int64_t> Span(std::string_view text, double millis) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kMost = 1e12;
  if (error != std::errc() || !std::isfinite(number) || number < 0 || number > kMost)
    return std::nullopt;
  if (end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(number * millis));
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", as a span from now.
std::optional<std::int64_t> UntilDate(std::string_view text, std::int64_t now_ms) {
  std::tm parts{};
  const std::string copy(text);
  if (::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) return std::nullopt;
  return std::max<std::int64_t>(0, (static_cast<std::int64_t>(::timegm(&parts)) * 1000) - now_ms);
}

/// Google says it in the body: "retryDelay": "12.5s".
std::optional<std::int64_t> RetryInfo(const JsonView& error) {
  std::optional<std::int64_t> found;
  error["details"].ForEach([&](const JsonView& detail) {
    const std::string delay = detail["retryDelay"].StringOr("");
    if (delay.ends_with('s'))
      found = Span(std::string_view(delay).substr(0, delay.size() - 1), 1000);
  });
  return found;
}

std::optional<std::int64_t> RetryAfter(const Headers& headers, const JsonView& error,
                                       std::int64_t now_ms) {
  if (const auto millis = Find(headers, "retry-after-ms")) {
    if (const auto span = Span(*millis, 1)) return span;
  }
  if (const auto after = Find(headers, "retry-after")) {
    if (const auto span = Span(*after, 1000)) return span;
    if (const auto span = UntilDate(*after, now_ms)) return span;
  }
  return RetryInfo(error);
}

}  // namespace

std::string_view FailureName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kOverflow: return "overflow";
    case FailureKind::kAuth: return "auth";
    case FailureKind::kQuota: return "quota";
    case FailureKind::kRateLimited: return "rate_limited";
    case FailureKind::kOverloaded: return "overloaded";
    case FailureKind::kRefused: return "refused";
    case FailureKind::kBadRequest: return "bad_request";
    case FailureKind::kNotFound: return "not_found";
    case FailureKind::kTooLarge: return "too_large";
    case FailureKind::kServer: return "server";
    case FailureKind::kNetwork: return "network";
    case FailureKind::kTimeout: return "timeout";
    case FailureKind::kTruncated: return "truncated";
    case FailureKind::kGarbled: return "garbled";
    case FailureKind::kProtocol: return "protocol";
    case FailureKind::kCancelled: break;
  }
  return "cancelled";
}

Failure FailureFromResponse(int status, const Headers& headers, std::string_view body,
                            std::int64_t now_ms) {
  const JsonView error = CheckJson(body) ? ErrorObject(JsonView(body)) : JsonView();
  const Saying saying = error ? Read(error) : Saying{"", Lower(Bounded(body))};
  Failure failure;
  failure.status = status;
  failure.retry_after_ms = RetryAfter(headers, error, now_ms);
  failure.kind = KindOf(status, saying.words, failure.retry_after_ms.has_value());
  if (!saying.message.empty()) {
    failure.message = Bounded(saying.message);
  } else {
    const std::string_view text = body.substr(0, body.find('\n'));
    failure.message = text.empty() ? std::string(kNoExplanation) : Bounded(text);
  }
  for (const std::string_view name : {"request-id", "x-request-id"}) {
    if (failure.request_id.empty()) failure.request_id = Find(headers, name).value_or("");
  }
  if (const auto retry = Find(headers, "x-should-retry")) {
    if (*retry == "true" || *retry == "false") failure.should_retry = *retry == "true";
  }
  return failure;
}

Failure FailureFromObject(std::string_view error_json) {
  const JsonView error = ErrorObject(JsonView(error_json));
  const Saying saying = Read(error);
  // OpenRouter and Google put the status into the object.
  const std::int64_t code = error["code"].IntOr(0);
  const int status = code >= 400 && code < 600 ? static_cast<int>(code) : 0;
  Failure failure;
  failure.status = status;
  failure.retry_after_ms = RetryInfo(error);
  failure.kind = KindOf(status, saying.words, failure.retry_after_ms.has_value());
  failure.message = Bounded(saying.message.empty() ? error_json : saying.message);
  if (failure.message.empty()) failure.message = kNoExplanation;
  return failure;
}

}  // namespace stet::provider
