#include "provider/failure.h"

#include <gtest/gtest.h>

namespace stet::provider {
namespace {

constexpr std::int64_t kNow = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT

std::string KindOf(int status, std::string_view body, const Headers& headers = {}) {
  return std::string(FailureName(FailureFromResponse(status, headers, body, kNow).kind));
}

TEST(FailureTest, TheStatusDecidesWhereTheTextSaysNothing) {
  EXPECT_EQ(KindOf(400, "{}"), "bad_request");
  EXPECT_EQ(KindOf(401, ""), "auth");
  EXPECT_EQ(KindOf(402, ""), "quota");
  EXPECT_EQ(KindOf(403, "<html>"), "auth");
  EXPECT_EQ(KindOf(404, "{}"), "not_found");
  EXPECT_EQ(KindOf(408, "{}"), "timeout");
  EXPECT_EQ(KindOf(409, "{}"), "server");
  EXPECT_EQ(KindOf(413, "{}"), "too_large");
  EXPECT_EQ(KindOf(418, "{}"), "bad_request");
  EXPECT_EQ(KindOf(429, "{}"), "rate_limited");
  EXPECT_EQ(KindOf(500, "{}"), "server");
  EXPECT_EQ(KindOf(503, "{}"), "overloaded");
  EXPECT_EQ(KindOf(529, "{}"), "overloaded");
}

TEST(FailureTest, ARequestThatDoesNotFitIsKnownByTheTextsOfAllServers) {
  for (const std::string_view message : {
           "prompt is too long: 210000 tokens > 200000 maximum",
           "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
           "This model's maximum context length is 128000 tokens. However, your messages resulted",
           "Your input exceeds the context window of this model. Please adjust your input",
           "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)",
           "the request exceeds the available context size, try increasing it",
           "Please reduce the length of the messages or completion.",
           "prompt too long; exceeded max context length by 12 tokens",
           "This model's maximum prompt length is 131072 but the request contains 140000 tokens",
       }) {
    const std::string body = "{\"error\":{\"message\":\"" + std::string(message) + "\"}}";
    EXPECT_EQ(KindOf(400, body), "overflow") << message;
  }
  EXPECT_EQ(KindOf(400, R"({"error":{"code":"context_length_exceeded","message":"no"}})"),
            "overflow");
  EXPECT_EQ(KindOf(400, R"({"error":{"type":"exceed_context_size_error","n_ctx":4096}})"),
            "overflow");
}

TEST(FailureTest, AQuotaIsNotARateLimitUnlessItIsBackSoon) {
  EXPECT_EQ(KindOf(429, R"({"error":{"code":"insufficient_quota","message":"no money"}})"),
            "quota");
  EXPECT_EQ(KindOf(400, R"({"error":{"message":"Your credit balance is too low"}})"), "quota");
  const std::string google =
      R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.5s"}]}})";
  const Failure failure = FailureFromResponse(429, {}, google, kNow);
  EXPECT_EQ(failure.kind, FailureKind::kRateLimited);
  EXPECT_EQ(failure.retry_after_ms, 12'500);
}

TEST(FailureTest, ARefusalIsNotABadRequest) {
  EXPECT_EQ(KindOf(400, R"({"error":{"code":"content_filter","message":"filtered"}})"), "refused");
}

TEST(FailureTest, TheMessageIsFoundInEveryShapeOfBody) {
  const auto message = [](std::string_view body) {
    return FailureFromResponse(400, {}, body, kNow).message;
  };
  EXPECT_EQ(message(R"({"type":"error","error":{"type":"x","message":"one"}})"), "one");
  EXPECT_EQ(message(R"({"error":"two"})"), "two");
  EXPECT_EQ(message(R"([{"error":{"message":"three"}}])"), "three");
  EXPECT_EQ(message(R"({"object":"error","message":"four"})"), "four");
  EXPECT_EQ(message(R"({"detail":"five"})"), "five");
  EXPECT_EQ(message(R"({"error":{"message":"up","metadata":{"raw":"down"}}})"), "up: down");
  EXPECT_EQ(message("<html>six\nmore"), "<html>six");
  EXPECT_EQ(message(""), "no explanation");
}

TEST(FailureTest, AMessageIsBoundedAndValidText) {
  const Failure failure = FailureFromResponse(500, {}, std::string(100'000, '\xff'), kNow);
  EXPECT_LE(failure.message.size(), 2010U);
  EXPECT_TRUE(failure.message.starts_with("\xEF\xBF\xBD"));
}

TEST(FailureTest, HowLongToWaitIsReadInEveryForm) {
  const auto wait = [](const Headers& headers) {
    return FailureFromResponse(429, headers, "{}", kNow).retry_after_ms;
  };
  EXPECT_EQ(wait({}), std::nullopt);
  EXPECT_EQ(wait({{"Retry-After", "3"}}), 3000);
  EXPECT_EQ(wait({{"retry-after", "0.25"}}), 250);
  EXPECT_EQ(wait({{"retry-after", "3"}, {"retry-after-ms", "7"}}), 7);
  EXPECT_EQ(wait({{"retry-after", "Sun, 06 Nov 1994 08:49:42 GMT"}}), 5000);
  EXPECT_EQ(wait({{"retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"}}), 0);
  for (const char* bad : {"soon", "-1", "nan", "1e400", "3x", ""})
    EXPECT_EQ(wait({{"retry-after", bad}}), std::nullopt) << bad;
}

TEST(FailureTest, TheServersWordOnRetryingIsKept) {
  const auto word = [](const char* value) {
    return FailureFromResponse(500, {{"X-Should-Retry", value}}, "", kNow).should_retry;
  };
  EXPECT_EQ(word("true"), true);
  EXPECT_EQ(word("false"), false);
  EXPECT_EQ(word("maybe"), std::nullopt);
}

TEST(FailureTest, TheRequestIdIsKept) {
  EXPECT_EQ(FailureFromResponse(500, {{"Request-Id", "req_1"}}, "", kNow).request_id, "req_1");
  EXPECT_EQ(FailureFromResponse(500, {{"x-request-id", "req_2"}}, "", kNow).request_id, "req_2");
}

TEST(FailureTest, AnErrorInTheStreamIsKnownByItsWords) {
  const auto kind = [](std::string_view json) {
    return std::string(FailureName(FailureFromObject(json).kind));
  };
  EXPECT_EQ(kind(R"({"type":"overloaded_error","message":"Overloaded"})"), "overloaded");
  EXPECT_EQ(kind(R"({"type":"rate_limit_error","message":"slow"})"), "rate_limited");
  EXPECT_EQ(kind(R"({"type":"authentication_error"})"), "auth");
  EXPECT_EQ(kind(R"({"type":"invalid_request_error","message":"bad"})"), "bad_request");
  EXPECT_EQ(kind(R"({"type":"api_error","message":"Internal server error"})"), "server");
  EXPECT_EQ(kind(R"({"code":502,"message":"upstream"})"), "server");
  EXPECT_EQ(kind(R"({"code":"server_error"})"), "server");
  EXPECT_EQ(kind(R"("boom")"), "server");
  EXPECT_EQ(kind(R"({"error":{"code":400,"message":"maximum context length"}})"), "overflow");
}

TEST(FailureTest, NothingIsExplainedByThatWord) {
  EXPECT_EQ(FailureFromObject("").message, "no explanation");
  EXPECT_EQ(FailureFromResponse(500, {}, "", kNow).message, "no explanation");
}

TEST(FailureTest, TheErrorMayBeInsideArrays) {
  const std::string error = R"({"error":{"message":"no","code":429}})";
  EXPECT_EQ(FailureFromObject("[" + error + ",2]").message, "no");
  const std::string deep = std::string(500, '[') + error + std::string(500, ']');
  EXPECT_EQ(FailureFromObject(deep).message, "no");
  EXPECT_EQ(KindOf(400, deep), "bad_request");
  EXPECT_EQ(FailureFromObject("[[]]").message, "[[]]");
  EXPECT_EQ(FailureFromObject(R"([["no"]])").message, "no");
}

}  // namespace
}  // namespace stet::provider
