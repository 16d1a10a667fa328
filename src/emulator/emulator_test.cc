#include "emulator/emulator.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/fs.h"
#include "base/temp_dir.h"
#include "emulator/raw_client_fixture.h"
#include "json/view.h"

namespace stet::emulator {
namespace {

using End = RawClient::End;

std::unique_ptr<Emulator> Started(std::string_view script, const Options& options = {}) {
  auto emulator = Emulator::Start(script, options);
  EXPECT_TRUE(emulator) << emulator.error().Text();
  return *std::move(emulator);
}

/// The answer to one request on a connection of its own.
std::string Ask(const Emulator& emulator, const Endpoint& endpoint) {
  RawClient client(emulator.port());
  client.Post(endpoint);
  return client.ReadAnswer();
}

std::string Get(const Emulator& emulator, std::string_view path) {
  RawClient client(emulator.port());
  client.Request("GET", path, "");
  return RawClient::BodyOf(client.ReadAnswer());
}

TEST(EmulatorTest, EveryDialectAnswersOnOneConnection) {
  const auto emulator =
      Started(R"({"replies":[{"times":0,"blocks":[{"text":"Hello there, you."}]}]})");
  RawClient client(emulator->port());
  for (const Endpoint& endpoint : kEndpoints) {
    client.Post(endpoint);
    const std::string answer = client.ReadAnswer();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream")) << answer;
    EXPECT_NE(RawClient::BodyOf(answer).find("Hello there, you"), std::string::npos);
  }
  const std::vector<RequestRecord> requests = emulator->Requests();
  ASSERT_EQ(requests.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(requests[i].n, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(requests[i].dialect, kEndpoints[i].dialect);
    EXPECT_EQ(requests[i].body.text, kEndpoints[i].body);
    EXPECT_EQ(requests[i].outcome, "sent");
    EXPECT_TRUE(requests[i].usage.has_value());
  }
}

TEST(EmulatorTest, RepliesAreUsedInOrderAndThenUsedUp) {
  const auto emulator = Started(
      R"({"replies":[{"blocks":[{"text":"one"}]},{"times":2,"when":{"lastUser":"hell"},"blocks":[{"text":"two"}]}]})");
  const auto answer = [&] { return RawClient::BodyOf(Ask(*emulator, kEndpoints[0])); };
  EXPECT_NE(answer().find("one"), std::string::npos);
  EXPECT_NE(answer().find("two"), std::string::npos);
  EXPECT_NE(answer().find("two"), std::string::npos);
  const std::string refused = Ask(*emulator, kEndpoints[0]);
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
  EXPECT_EQ(JsonView(RawClient::BodyOf(refused))["error"]["message"].StringOr(""),
            "the emulator's script has no reply for request 4; reply 1: used up; reply 2: used up");
}

TEST(EmulatorTest, ByteByByteGivesTheSameBytes) {
  const auto emulator = Started(R"({"replies":[]})");
  for (const Endpoint& endpoint : kEndpoints) {
    ASSERT_TRUE(emulator->SetScript(R"({"replies":[{"blocks":[{"text":"ünï cödé"}]}]})"));
    const std::string whole = Ask(*emulator, endpoint);
    ASSERT_TRUE(emulator->SetScript(R"({"replies":[{"blocks":[{"text":"ünï cödé"}],"write":1}]})"));
    EXPECT_EQ(Ask(*emulator, endpoint), whole);
  }
}

struct FaultCase {
  std::string_view fault;
  End end;
  std::string_view outcome;
};

TEST(EmulatorTest, ConnectionsEndAsTheFaultSays) {
  const auto emulator = Started(R"({"replies":[]})");
  for (const FaultCase& one :
       {FaultCase{R"("kind":"reset")", End::kReset, "reset"},
        FaultCase{R"("kind":"reset","afterEvents":2)", End::kReset, "reset"},
        FaultCase{R"("kind":"close")", End::kClosed, "closed"},
        FaultCase{R"("kind":"close","afterBytes":30)", End::kClosed, "closed"},
        FaultCase{R"("kind":"no_end")", End::kClosed, "sent"}}) {
    ASSERT_TRUE(emulator->SetScript(fmt::format(
        R"({{"replies":[{{"blocks":[{{"text":"abc"}}],"fault":{{{}}}}}]}})", one.fault)));
    RawClient client(emulator->port());
    client.Post(kEndpoints[0]);
    EXPECT_EQ(client.ReadToEnd(), one.end) << one.fault;
    EXPECT_EQ(emulator->Requests().at(0).outcome, one.outcome);
    EXPECT_FALSE(emulator->Requests().at(0).usage.has_value());
    const std::string body = RawClient::BodyOf(client.received());
    if (one.fault.find("afterBytes") != std::string_view::npos) {
      EXPECT_EQ(body.size(), 30u);
    }
    if (one.fault.find("afterEvents") != std::string_view::npos) {
      EXPECT_EQ(RawClient::DataOf(body).size(), 2u);
    }
    EXPECT_EQ(body.find("message_stop"), std::string::npos);
  }
}

TEST(EmulatorTest, AStalledConnectionStaysOpenUntilTheClientLeaves) {
  const auto emulator = Started(
      R"({"replies":[{"blocks":[{"text":"abc"}],"fault":{"kind":"stall","afterEvents":1}},{"fault":{"kind":"half_open"}}]})");
  {
    RawClient client(emulator->port());
    client.Post(kEndpoints[0]);
    EXPECT_EQ(client.ReadToEnd(std::chrono::milliseconds(200)), End::kOpen);
    EXPECT_EQ(RawClient::DataOf(RawClient::BodyOf(client.received())).size(), 1u);
    RawClient other(emulator->port());
    other.Post(kEndpoints[1]);
    EXPECT_EQ(other.ReadToEnd(std::chrono::milliseconds(200)), End::kOpen);
    EXPECT_EQ(other.received(), "");
    EXPECT_EQ(emulator->stats().active, 2);
    EXPECT_EQ(emulator->Requests().at(0).outcome, "stalled");
    EXPECT_EQ(emulator->Requests().at(1).outcome, "half_open");
  }
  const Deadline deadline = Deadline::After(std::chrono::seconds(20));
  while (emulator->stats().active > 0 && !deadline.Passed()) std::this_thread::yield();
  EXPECT_EQ(emulator->stats().active, 0);
}

TEST(EmulatorTest, FaultsInsideTheStreamAreInserted) {
  const auto events = [](std::string_view fault) {
    const auto emulator = Started(
        fmt::format(R"({{"replies":[{{"blocks":[{{"text":"abc"}}],"fault":{{{}}}}}]}})", fault));
    return RawClient::DataOf(RawClient::BodyOf(Ask(*emulator, kEndpoints[2])));
  };
  const std::size_t sound = events(R"("kind":"drip","ms":0)").size();
  const std::vector<std::string> malformed = events(R"("kind":"malformed","afterEvents":2)");
  ASSERT_EQ(malformed.size(), sound + 1);
  EXPECT_FALSE(CheckJson(malformed[2]));
  const std::vector<std::string> giant = events(R"("kind":"giant","bytes":3000000)");
  ASSERT_EQ(giant.size(), sound + 1);
  EXPECT_GT(giant[0].size(), 2'999'000u);
  const std::vector<std::string> error =
      events(R"("kind":"error_event","afterEvents":3,"code":"rate_limit_exceeded","message":"no")");
  ASSERT_EQ(error.size(), 4u);
  EXPECT_EQ(
      error[3],
      R"({"type":"error","sequence_number":3,"code":"rate_limit_exceeded","message":"no","param":null})");
  const std::vector<std::string> failed =
      events(R"("kind":"error_event","afterEvents":1,"failed":true,"message":"no")");
  EXPECT_EQ(JsonView(failed.at(1))["response"]["error"]["message"].StringOr(""), "no");
}

TEST(EmulatorTest, StatusesAreAnsweredWithALength) {
  const auto emulator = Started(R"({"replies":[
    {"fault":{"kind":"overload","retryAfter":2}},{"fault":{"kind":"status","status":401,"message":"bad key"}},
    {"fault":{"kind":"content_type"}},{"fault":{"kind":"json_error_200","message":"hm"}}]})");
  const std::string overload = Ask(*emulator, kEndpoints[0]);
  EXPECT_TRUE(overload.starts_with("HTTP/1.1 529 ")) << overload;
  EXPECT_NE(overload.find("\r\nretry-after: 2\r\n"), std::string::npos);
  EXPECT_NE(overload.find("overloaded_error"), std::string::npos);
  const std::string denied = Ask(*emulator, kEndpoints[1]);
  EXPECT_TRUE(denied.starts_with("HTTP/1.1 401 ")) << denied;
  EXPECT_NE(denied.find(R"("code":"invalid_api_key")"), std::string::npos);
  EXPECT_NE(Ask(*emulator, kEndpoints[2]).find("content-type: text/html"), std::string::npos);
  const std::string hidden = Ask(*emulator, kEndpoints[3]);
  EXPECT_TRUE(hidden.starts_with("HTTP/1.1 200 ")) << hidden;
  EXPECT_EQ(JsonView(RawClient::BodyOf(hidden))["error"]["message"].StringOr(""), "hm");
  EXPECT_EQ(emulator->Requests().at(0).outcome, "error");
}

TEST(EmulatorTest, RequestsMayExpectContinueAndComeInChunks) {
  const auto emulator = Started(R"({"replies":[{"blocks":[{"text":"abc"}]}]})");
  RawClient client(emulator->port());
  client.Send(
      "POST /v1/messages HTTP/1.1\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n");
  client.ReadUntil([](const std::string& bytes) { return bytes.ends_with("\r\n\r\n"); });
  EXPECT_EQ(client.received(), "HTTP/1.1 100 Continue\r\n\r\n");
  const std::string_view body = kEndpoints[0].body;
  client.Send(fmt::format("5\r\n{}\r\n{:x};ext=1\r\n{}\r\n0\r\ntrailer: x\r\n\r\n",
                          body.substr(0, 5), body.size() - 5, body.substr(5)));
  client.ReadUntil([](const std::string& bytes) { return bytes.ends_with("\r\n0\r\n\r\n"); });
  EXPECT_NE(client.received().find("message_stop"), std::string::npos);
  EXPECT_EQ(emulator->Requests().at(0).body.text, body);
}

TEST(EmulatorTest, WhatIsNoRequestIsRefused) {
  const auto emulator = Started(R"({"replies":[]})");
  RawClient garbage(emulator->port());
  garbage.Send("hello\r\n\r\n");
  EXPECT_EQ(garbage.ReadToEnd(), End::kClosed);
  EXPECT_TRUE(garbage.received().starts_with("HTTP/1.1 400 "));
  RawClient large(emulator->port());
  large.Send("POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n");
  EXPECT_EQ(large.ReadToEnd(), End::kClosed);
  EXPECT_TRUE(large.received().starts_with("HTTP/1.1 413 "));
  Endpoint still = kEndpoints[0];
  still.body = R"({"model":"m","messages":[]})";
  EXPECT_TRUE(Ask(*emulator, still).starts_with("HTTP/1.1 400 "));
  still.body = "{";
  EXPECT_TRUE(Ask(*emulator, still).starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(emulator->Requests().at(1).body.text, "\"{\"");
}

TEST(EmulatorTest, SecretsAreNotRecorded) {
  const TempDir dir;
  const auto emulator = Started(R"({"replies":[{}]})", {.record = dir.Sub("record.jsonl")});
  RawClient client(emulator->port());
  client.Request("POST", "/v1beta/models/m:streamGenerateContent?alt=sse&key=sesame", "{}",
                 "X-Goog-Api-Key: sesame\r\nAuthorization: Bearer sesame\r\nx-a: 1\r\nX-A: 2\r\n");
  client.ReadAnswer();
  const RequestRecord request = emulator->Requests().at(0);
  EXPECT_EQ(request.path, "/v1beta/models/m:streamGenerateContent?alt=sse&key=present");
  EXPECT_EQ(JsonView(request.headers.text)["x-goog-api-key"].StringOr(""), "present");
  EXPECT_EQ(JsonView(request.headers.text)["x-a"].StringOr(""), "1, 2");
  const std::string file = *ReadFile(dir.Sub("record.jsonl"));
  EXPECT_EQ(file.find("sesame"), std::string::npos);
  EXPECT_EQ(file, Encode(request) + "\n");
}

TEST(EmulatorTest, TheScriptCanBeReplacedOverHttp) {
  const auto emulator = Started(R"({"replies":[{}]})");
  Ask(*emulator, kEndpoints[0]);
  RawClient client(emulator->port());
  client.Request("POST", "/emulator/script", R"({"replies":[{"tims":1}]})");
  EXPECT_NE(client.ReadAnswer().find("reply 1: tims"), std::string::npos);
  client.Request("POST", "/emulator/script", R"({"replies":[{"when":{"call":1,"model":"m"}}]})");
  EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(Get(*emulator, "/emulator/requests"), "[]");
  EXPECT_TRUE(Ask(*emulator, kEndpoints[0]).starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(Get(*emulator, "/emulator/stats"), R"({"requests":1,"active":0,"maxActive":1})");
  EXPECT_NE(Get(*emulator, "/v1/models").find(R"("id":"m")"), std::string::npos);
  EXPECT_NE(Get(*emulator, "/v1beta/models").find("models/emulator"), std::string::npos);
}

TEST(EmulatorTest, RequestsAreCheckedAgainstTheirSchema) {
  const TempDir dir;
  ASSERT_TRUE(
      ReplaceFile(dir.Sub("anthropic-messages.json"),
                  R"({"type":"object","properties":{"model":{},"max_tokens":{"maximum":10},)"
                  R"("stream":{},"messages":{}},"additionalProperties":false})",
                  Durable::kNo));
  const auto emulator = Started(R"({"replies":[{"times":0}]})", {.schemas = dir.path()});
  EXPECT_TRUE(Ask(*emulator, kEndpoints[0]).starts_with("HTTP/1.1 200 "));
  const SchemaProblems expected{{.path = "/max_tokens", .message = "must be at most 10"}};
  EXPECT_EQ(emulator->Requests().at(0).schema_errors, expected);
  ASSERT_TRUE(emulator->SetScript(R"({"strict":true,"replies":[{"times":0}]})"));
  const std::string refused = Ask(*emulator, kEndpoints[0]);
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
  EXPECT_EQ(JsonView(RawClient::BodyOf(refused))["error"]["message"].StringOr(""),
            "the request does not fit the schema; /max_tokens: must be at most 10");
  EXPECT_EQ(emulator->Requests().at(0).schema_errors, expected);
  EXPECT_TRUE(Ask(*emulator, kEndpoints[1]).starts_with("HTTP/1.1 200 "));
  EXPECT_FALSE(Emulator::Start(R"({"replies":[]})", {.schemas = dir.Sub("none")}));
}

TEST(EmulatorTest, TokensAreCountedAsTheyAreReported) {
  const auto emulator = Started(R"({"cache":{},"replies":[{"times":0}]})");
  const auto post = [&](std::string_view path, std::string_view body) {
    RawClient client(emulator->port());
    client.Request("POST", path, body);
    return RawClient::BodyOf(client.ReadAnswer());
  };
  std::vector<std::int64_t> reported;
  for (const Endpoint& endpoint : kEndpoints) {
    Ask(*emulator, endpoint);
    reported.push_back(emulator->Requests().back().usage.value_or(Usage()).prompt());
  }
  EXPECT_EQ(post("/v1/messages/count_tokens", kEndpoints[0].body),
            fmt::format(R"({{"input_tokens":{}}})", reported[0]));
  EXPECT_EQ(post("/v1/responses/input_tokens", kEndpoints[2].body),
            fmt::format(R"({{"object":"response.input_tokens","input_tokens":{}}})", reported[2]));
  const std::string counted = fmt::format(R"({{"totalTokens":{}}})", reported[3]);
  EXPECT_EQ(post("/v1beta/models/m:countTokens", kEndpoints[3].body), counted);
  EXPECT_EQ(post("/v1beta/models/m:countTokens",
                 fmt::format(R"({{"generateContentRequest":{}}})", kEndpoints[3].body)),
            counted);
  EXPECT_NE(post("/v1/messages/count_tokens", "{").find("no JSON"), std::string::npos);
}

TEST(EmulatorTest, ARequestBeyondTheWindowIsRefusedInTheDialectsWords) {
  const auto emulator =
      Started(R"({"window":1,"replies":[{"times":0,"blocks":[{"text":"hello"}]}]})");
  const std::vector<std::string_view> words = {
      "prompt is too long: ", "maximum context length is 1 tokens", "exceeds the context window",
      "exceeds the maximum number of tokens allowed (1)"};
  for (std::size_t i = 0; i < kEndpoints.size(); ++i) {
    const std::string refused = Ask(*emulator, kEndpoints[i]);
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
    EXPECT_NE(refused.find(words[i]), std::string::npos) << refused;
  }
  ASSERT_TRUE(emulator->SetScript(R"({"window":300,"replies":[{"times":0}]})"));
  for (const Endpoint& endpoint : kEndpoints)
    EXPECT_TRUE(Ask(*emulator, endpoint).starts_with("HTTP/1.1 200 "));
}

TEST(EmulatorTest, WhatWasReadIsCachedUntilTheClockIsMoved) {
  const auto emulator = Started(R"({"cache":{"minimum":1},"replies":[
    {"fault":{"kind":"overload"}},{"times":0,"usage":{"output":7,"input":99}}]})");
  const Endpoint marked{
      "anthropic-messages", "/v1/messages",
      R"({"model":"m","max_tokens":64,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}]})"};
  const auto cached = [&] {
    Ask(*emulator, marked);
    const Usage usage = emulator->Requests().back().usage.value_or(Usage());
    EXPECT_EQ(usage.input, 0);
    EXPECT_EQ(usage.output, 7);
    return usage.cache_read > 0 && usage.cache_write == 0;
  };
  Ask(*emulator, marked);
  EXPECT_FALSE(cached()) << "the overloaded server read nothing";
  EXPECT_TRUE(cached());
  emulator->MoveClock(200'000);
  EXPECT_TRUE(cached());
  RawClient client(emulator->port());
  client.Request("POST", "/emulator/clock", R"({"forwardMs":400000})");
  EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 200 "));
  EXPECT_FALSE(cached());
  client.Request("POST", "/emulator/clock", R"({"forwardMs":-1})");
  EXPECT_TRUE(client.ReadAnswer().starts_with("HTTP/1.1 400 "));
}

TEST(EmulatorTest, TwoHundredStreamsRunAtOnce) {
  const auto emulator = Started(
      R"({"replies":[{"times":0,"blocks":[{"text":"abcdefghijklmnopqrstuvwxyz"}],"delta":1,"firstByteMs":300}]})");
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(emulator->port()));
    clients.back()->Post(kEndpoints[static_cast<std::size_t>(i) % kEndpoints.size()]);
  }
  for (const auto& client : clients) EXPECT_GT(client->ReadAnswer().size(), 26u);
  EXPECT_EQ(emulator->Requests().size(), 200u);
  EXPECT_GT(emulator->stats().max_active, 50);
}

TEST(EmulatorTest, DestroyingItEndsWhatIsUnderWay) {
  auto emulator = Started(
      R"({"replies":[{"fault":{"kind":"half_open"}},{"blocks":[{"text":"abc"}],"firstByteMs":600000},{"times":0,"blocks":[{"text":"a"}],"fault":{"kind":"giant","bytes":60000000}}]})");
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<RawClient>(emulator->port()));
    clients.back()->Post(kEndpoints[0]);
    const Deadline deadline = Deadline::After(std::chrono::seconds(20));
    while (emulator->stats().active <= i && !deadline.Passed()) std::this_thread::yield();
  }
  const auto start = SystemClock().Steady();
  emulator.reset();
  EXPECT_LT(SystemClock().Steady() - start, std::chrono::seconds(5));
  for (const auto& client : clients) EXPECT_NE(client->ReadToEnd(), End::kOpen);
}

TEST(EmulatorTest, ATakenPortAndABadScriptAreErrors) {
  const auto emulator = Started(R"({"replies":[]})");
  EXPECT_FALSE(Emulator::Start(R"({"replies":[]})", {.port = emulator->port()}));
  EXPECT_FALSE(Emulator::Start("{"));
  EXPECT_FALSE(Emulator::Start(R"({"replies":[]})", {.record = "/nowhere/at/all"}));
}

}  // namespace
}  // namespace stet::emulator
