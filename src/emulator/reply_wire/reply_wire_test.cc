#include "emulator/reply_wire/reply_wire.h"

#include <gtest/gtest.h>

#include "emulator/raw_client_fixture.h"
#include "json/view.h"

namespace stet::emulator {
namespace {

Reply ReplyOf(std::string_view text) {
  Result<Script> script = ParseScript("{\"replies\":[" + std::string(text) + "]}");
  EXPECT_TRUE(script) << script.error().message;
  return script ? script->replies.at(0) : Reply();
}

Exchange ExchangeIn(Dialect dialect) {
  Exchange exchange{.dialect = dialect, .model = "m", .include_usage = true};
  exchange.usage.input = 100;
  exchange.usage.output = 30;
  exchange.usage.cache_read = 1000;
  exchange.usage.cache_write = 7;
  exchange.usage.reasoning = 10;
  return exchange;
}

std::vector<std::string> DataIn(Dialect dialect, std::string_view reply) {
  return RawClient::DataOf(RenderReply(ExchangeIn(dialect), ReplyOf(reply)).bytes);
}

constexpr std::string_view kFull =
    R"({"blocks":[{"thinking":"Hm, let me see what is there.","signature":"sig"},{"redacted":"enc"},)"
    R"({"text":"Grüße, wörld! 👍🏽 done"},{"call":{"name":"ls","args":{"path":"src/base"}}},)"
    R"({"call":{"name":"cat","args":{},"id":"mine"}}],"delta":3})";

/// What a client puts together from a stream; each dialect has its own way.
struct Heard {
  std::string text, thinking, signature, args, stop;
};

Heard HearAnthropic(const std::vector<std::string>& data) {
  Heard heard;
  for (const std::string& one : data) {
    const JsonView delta = JsonView(one)["delta"];
    heard.text += delta["text"].StringOr("");
    heard.thinking += delta["thinking"].StringOr("");
    heard.signature += delta["signature"].StringOr("");
    heard.args += delta["partial_json"].StringOr("");
    heard.stop += delta["stop_reason"].StringOr("");
  }
  return heard;
}

Heard HearCompletions(const std::vector<std::string>& data) {
  Heard heard;
  for (const std::string& one : data) {
    JsonView(one)["choices"].ForEach([&](const JsonView& choice) {
      const JsonView delta = choice["delta"];
      heard.text += delta["content"].StringOr("");
      heard.thinking += delta["reasoning_content"].StringOr("");
      delta["tool_calls"].ForEach(
          [&](const JsonView& call) { heard.args += call["function"]["arguments"].StringOr(""); });
      heard.stop += choice["finish_reason"].StringOr("");
    });
  }
  return heard;
}

Heard HearResponses(const std::vector<std::string>& data) {
  Heard heard;
  for (const std::string& one : data) {
    const JsonView event(one);
    const std::string type = event["type"].StringOr("");
    const std::string delta = event["delta"].StringOr("");
    if (type == "response.output_text.delta") heard.text += delta;
    if (type == "response.reasoning_summary_text.delta") heard.thinking += delta;
    if (type == "response.function_call_arguments.delta") heard.args += delta;
    if (type == "response.output_item.done") {
      heard.signature += event["item"]["encrypted_content"].StringOr("");
    }
    if (type == "response.completed") heard.stop = event["response"]["status"].StringOr("");
  }
  return heard;
}

Heard HearGoogle(const std::vector<std::string>& data) {
  Heard heard;
  for (const std::string& one : data) {
    JsonView(one)["candidates"].ForEach([&](const JsonView& candidate) {
      candidate["content"]["parts"].ForEach([&](const JsonView& part) {
        const bool thought = part["thought"].Bool().value_or(false);
        (thought ? heard.thinking : heard.text) += part["text"].StringOr("");
        heard.signature += part["thoughtSignature"].StringOr("");
        heard.args += part["functionCall"]["args"].text();
      });
      heard.stop += candidate["finishReason"].StringOr("");
    });
  }
  return heard;
}

TEST(EmulatorWireTest, EveryDialectSaysTheSame) {
  const Heard anthropic = HearAnthropic(DataIn(Dialect::kAnthropicMessages, kFull));
  const Heard completions = HearCompletions(DataIn(Dialect::kOpenAiCompletions, kFull));
  const Heard responses = HearResponses(DataIn(Dialect::kOpenAiResponses, kFull));
  const Heard google = HearGoogle(DataIn(Dialect::kGoogleGenerativeAi, kFull));
  for (const Heard& heard : {anthropic, completions, responses, google}) {
    EXPECT_EQ(heard.text, "Grüße, wörld! 👍🏽 done");
    EXPECT_EQ(heard.thinking, "Hm, let me see what is there.");
  }
  // A real Anthropic server sends nothing for a call without arguments.
  EXPECT_EQ(anthropic.args, R"({"path":"src/base"})");
  for (const Heard& heard : {completions, responses, google}) {
    EXPECT_EQ(heard.args, R"({"path":"src/base"}{})");
  }
  EXPECT_EQ(anthropic.signature, "sig");
  EXPECT_EQ(responses.signature, "sigenc");
  EXPECT_EQ(google.signature, "sig");
  EXPECT_EQ(anthropic.stop, "tool_use");
  EXPECT_EQ(completions.stop, "tool_calls");
  EXPECT_EQ(responses.stop, "completed");
  EXPECT_EQ(google.stop, "STOP");
}

TEST(EmulatorWireTest, EveryEventIsJsonAndNoCodePointIsCut) {
  for (std::size_t i = 0; i < kDialects; ++i) {
    for (const std::string& data : DataIn(static_cast<Dialect>(i), kFull)) {
      if (data == "[DONE]") continue;
      EXPECT_TRUE(Raw::From(data)) << data;  // Checks UTF-8 as well.
    }
  }
}

TEST(EmulatorWireTest, UsageIsCountedAsTheDialectDoes) {
  const auto last = [](Dialect dialect, std::size_t from_end) {
    std::vector<std::string> data = DataIn(dialect, R"({"blocks":[{"text":"a"}]})");
    return data.at(data.size() - from_end);
  };
  const std::string anthropic = last(Dialect::kAnthropicMessages, 2);
  EXPECT_EQ(JsonView(anthropic)["usage"]["input_tokens"].IntOr(0), 100);
  EXPECT_EQ(JsonView(anthropic)["usage"]["cache_read_input_tokens"].IntOr(0), 1000);
  EXPECT_EQ(JsonView(anthropic)["usage"]["cache_creation_input_tokens"].IntOr(0), 7);
  EXPECT_EQ(JsonView(anthropic)["usage"]["output_tokens"].IntOr(0), 30);
  const std::string completions = last(Dialect::kOpenAiCompletions, 2);
  EXPECT_EQ(JsonView(completions)["usage"]["prompt_tokens"].IntOr(0), 1107);
  EXPECT_EQ(JsonView(completions)["usage"]["completion_tokens"].IntOr(0), 30);
  const std::string responses = last(Dialect::kOpenAiResponses, 1);
  EXPECT_EQ(JsonView(responses)["response"]["usage"]["input_tokens"].IntOr(0), 1107);
  EXPECT_EQ(JsonView(responses)["response"]["usage"]["total_tokens"].IntOr(0), 1137);
  const std::string google = last(Dialect::kGoogleGenerativeAi, 1);
  EXPECT_EQ(JsonView(google)["usageMetadata"]["promptTokenCount"].IntOr(0), 1107);
  EXPECT_EQ(JsonView(google)["usageMetadata"]["candidatesTokenCount"].IntOr(0), 20);
  EXPECT_EQ(JsonView(google)["usageMetadata"]["thoughtsTokenCount"].IntOr(0), 10);
}

TEST(EmulatorWireTest, UsageChunksOnlyComeWhenAskedFor) {
  Exchange exchange = ExchangeIn(Dialect::kOpenAiCompletions);
  exchange.include_usage = false;
  const Reply reply = ReplyOf(R"({"blocks":[{"text":"a"}]})");
  EXPECT_EQ(RenderReply(exchange, reply).bytes.find("usage"), std::string::npos);
}

TEST(EmulatorWireTest, StopsHaveTheDialectsNames) {
  const auto anthropic = [](std::string_view reply) {
    return HearAnthropic(DataIn(Dialect::kAnthropicMessages, reply)).stop;
  };
  EXPECT_EQ(anthropic("{}"), "end_turn");
  EXPECT_EQ(anthropic(R"({"stop":"refused"})"), "refusal");
  EXPECT_EQ(anthropic(R"({"stop":"overflow"})"), "model_context_window_exceeded");
  EXPECT_EQ(anthropic(R"({"stop":"brand_new"})"), "brand_new");
  EXPECT_EQ(HearCompletions(DataIn(Dialect::kOpenAiCompletions, R"({"stop":"max_tokens"})")).stop,
            "length");
  EXPECT_EQ(
      HearGoogle(DataIn(Dialect::kGoogleGenerativeAi, R"({"blocks":[{"refusal":"No."}]})")).stop,
      "SAFETY");
  const std::string incomplete =
      DataIn(Dialect::kOpenAiResponses, R"({"stop":"max_tokens"})").back();
  EXPECT_EQ(JsonView(incomplete)["type"].StringOr(""), "response.incomplete");
  EXPECT_EQ(JsonView(incomplete)["response"]["incomplete_details"]["reason"].StringOr(""),
            "max_output_tokens");
  const std::string blocked = DataIn(Dialect::kGoogleGenerativeAi, R"({"stop":"refused"})").back();
  EXPECT_EQ(JsonView(blocked)["promptFeedback"]["blockReason"].StringOr(""), "SAFETY");
}

TEST(EmulatorWireTest, SequenceNumbersOfResponsesCountUp) {
  std::int64_t expected = 0;
  for (const std::string& data : DataIn(Dialect::kOpenAiResponses, kFull)) {
    EXPECT_EQ(JsonView(data)["sequence_number"].IntOr(-1), expected++);
  }
}

TEST(EmulatorWireTest, ArgumentsMayBeBroken) {
  constexpr std::string_view kBroken = R"({"blocks":[{"call":{"name":"f","argsText":"{\"a\":"}}]})";
  EXPECT_EQ(HearAnthropic(DataIn(Dialect::kAnthropicMessages, kBroken)).args, "{\"a\":");
  EXPECT_EQ(HearGoogle(DataIn(Dialect::kGoogleGenerativeAi, kBroken)).stop,
            "MALFORMED_FUNCTION_CALL");
}

std::string Completions(std::string_view quirk) {
  return RenderReply(
             ExchangeIn(Dialect::kOpenAiCompletions),
             ReplyOf(fmt::format(R"({{"blocks":[{{"thinking":"t","signature":"s"}},)"
                                 R"({{"redacted":"r"}},{{"text":"x"}},)"
                                 R"({{"call":{{"name":"f","args":{{"abcdefghijklmnop":1}}}}}}],)"
                                 R"("quirks":["{}"]}})",
                                 quirk)))
      .bytes;
}

TEST(EmulatorWireTest, EachQuirkChangesWhatItSays) {
  const auto has = [](std::string_view quirk, std::string_view text) {
    return Completions(quirk).find(text) != std::string::npos;
  };
  EXPECT_FALSE(has("no_done", "[DONE]"));
  EXPECT_TRUE(has("crlf", "\r\n\r\n"));
  EXPECT_TRUE(has("comments", ": PROCESSING\n\ndata: "));
  EXPECT_TRUE(has("no_space", "data:{"));
  EXPECT_TRUE(has("args_object", R"("arguments":{"abcdefghijklmnop":1})"));
  EXPECT_TRUE(has("whole_calls", R"("arguments":"{\"abcdefghijklmnop\":1}")"));
  EXPECT_FALSE(has("no_index", R"("tool_calls":[{"index")"));
  EXPECT_FALSE(has("no_id", R"("id":"call_)"));
  EXPECT_TRUE(has("repeat_name", R"("name":"")"));
  EXPECT_TRUE(has("null_content", R"("content":null)"));
  EXPECT_FALSE(has("usage_in_last", R"("choices":[])"));
  EXPECT_TRUE(has("usage_in_last", R"("prompt_tokens":1107)"));
  EXPECT_TRUE(has("stop_for_calls", R"("finish_reason":"stop")"));
  EXPECT_TRUE(has("reasoning", R"("reasoning":"t")"));
  EXPECT_TRUE(has("reasoning_details", R"("signature":"s")"));
  EXPECT_TRUE(has("reasoning_details", R"("type":"reasoning.encrypted","data":"r")"));
}

TEST(EmulatorWireTest, ErrorsHaveTheDialectsShape) {
  const WireError error{.status = 429, .message = "slow down", .retry_after = 3};
  EXPECT_EQ(
      RenderError(ExchangeIn(Dialect::kAnthropicMessages), error),
      R"({"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_000001"})");
  EXPECT_EQ(
      RenderError(ExchangeIn(Dialect::kOpenAiResponses), error),
      R"({"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}})");
  EXPECT_EQ(
      RenderError(ExchangeIn(Dialect::kGoogleGenerativeAi), error),
      R"({"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"@type":)"
      R"("type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}})");
}

TEST(EmulatorWireTest, AGiantEventIsExactlyAsLargeAsAskedAndJson) {
  for (std::size_t i = 0; i < kDialects; ++i) {
    const std::string event = GiantEvent(ExchangeIn(static_cast<Dialect>(i)), 5000);
    EXPECT_EQ(event.size(), 5000u);
    EXPECT_TRUE(CheckJson(RawClient::DataOf(event).at(0)));
    EXPECT_FALSE(
        CheckJson(RawClient::DataOf(BrokenEvent(ExchangeIn(static_cast<Dialect>(i)))).at(0)));
  }
}

}  // namespace
}  // namespace stet::emulator
