#include "provider/openai/openai_fixture.h"

namespace stet::provider::openai_responses {
namespace {

constexpr Dialect kDialect = Dialect::kOpenAiResponses;

Heard Hear(const std::string& bytes) { return HearPieces(kDialect, &MakeDecoder, {bytes}); }
Heard HearEvents(const std::vector<std::string>& datas) { return Hear(Sse(datas)); }

std::string Event(const std::string& type, const std::string& members) {
  return R"({"type":"response.)" + type + "\"," + members + "}";
}

const std::string kCompleted = R"({"type":"response.completed","response":{"status":"completed"}})";

constexpr std::string_view kReasoningItem =
    R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"One."},)"
    R"({"type":"summary_text","text":"Two."}],"encrypted_content":"AB=="})";

const std::string kWholeEnd =
    R"({"type":"response.completed","response":{"id":"r","status":"completed","incomplete_details":null,"error":null,)"
    R"("usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":30,)"
    R"("output_tokens_details":{"reasoning_tokens":12},"total_tokens":130}}})";

std::string WholeReply() {
  const std::string call_a =
      R"("id":"fc_1","type":"function_call","call_id":"call_a","name":"read")";
  return Sse(
      {R"({"type":"response.created","sequence_number":0,"response":{"id":"r","model":"m","status":"in_progress"}})",
       R"({"type":"response.in_progress","sequence_number":1,"response":{"id":"r","model":"m"}})",
       Event("output_item.added",
             R"("output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]})"),
       Event("reasoning_summary_part.added",
             R"("item_id":"rs_1","output_index":0,"summary_index":0,"part":{})"),
       Event("reasoning_summary_text.delta",
             R"("item_id":"rs_1","output_index":0,"summary_index":0,"delta":"One.")"),
       Event("reasoning_summary_text.done",
             R"("item_id":"rs_1","output_index":0,"summary_index":0,"text":"One.")"),
       Event("reasoning_summary_text.delta",
             R"("item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Two.")"),
       Event("output_item.done", R"("output_index":0,"item":)" + std::string(kReasoningItem)),
       Event(
           "output_item.added",
           R"("output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[]})"),
       Event(
           "content_part.added",
           R"("item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":""})"),
       Event("output_text.delta",
             R"("item_id":"msg_1","output_index":1,"content_index":0,"delta":"Hé","logprobs":[])"),
       Event("output_text.delta",
             R"("item_id":"msg_1","output_index":1,"content_index":0,"delta":"llo","logprobs":[])"),
       Event("output_text.done",
             R"("item_id":"msg_1","output_index":1,"content_index":0,"text":"Héllo")"),
       Event(
           "output_item.done",
           R"("output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","phase":"commentary",)"
           R"("content":[{"type":"output_text","text":"Héllo","annotations":[]}]})"),
       Event("output_item.added", R"("output_index":2,"item":{)" + call_a + R"(,"arguments":""})"),
       Event("function_call_arguments.delta",
             R"("item_id":"fc_1","output_index":2,"delta":"{\"path\":")"),
       Event(
           "output_item.added",
           R"("output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"list","arguments":""})"),
       Event("function_call_arguments.delta",
             R"("item_id":"fc_1","output_index":2,"delta":"\"a\"}")"),
       Event("function_call_arguments.done",
             R"("item_id":"fc_1","output_index":2,"arguments":"{\"path\":\"a\"}")"),
       Event("output_item.done",
             R"("output_index":2,"item":{)" + call_a + R"(,"arguments":"{\"path\":\"a\"}"})"),
       Event(
           "output_item.done",
           R"("output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_b","name":"list","arguments":"{}"})"),
       kWholeEnd});
}

TEST(OpenAiResponsesReply, AWholeReplyIsTheSameStreamInAnyPieces) {
  const std::string expected =
      R"({"type":"message_start","model":"m"}
{"type":"block_start","index":0,"kind":"thinking"}
{"type":"thinking_delta","index":0,"text":"One."}
{"type":"thinking_delta","index":0,"text":"\n\nTwo."}
{"type":"block_end","index":0,"block":{"type":"thinking","text":"One.\n\nTwo.","signature":"{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"One.\"},{\"type\":\"summary_text\",\"text\":\"Two.\"}],\"encrypted_content\":\"AB==\"}","dialect":"openai-responses"}}
{"type":"block_start","index":1,"kind":"text"}
{"type":"text_delta","index":1,"text":"Hé"}
{"type":"text_delta","index":1,"text":"llo"}
{"type":"block_end","index":1,"block":{"type":"text","text":"Héllo","signature":"commentary"}}
{"type":"block_start","index":2,"kind":"tool_call","toolCallId":"ID1","toolName":"read"}
{"type":"tool_call_delta","index":2,"text":"{\"path\":"}
{"type":"block_start","index":3,"kind":"tool_call","toolCallId":"ID2","toolName":"list"}
{"type":"tool_call_delta","index":2,"text":"\"a\"}"}
{"type":"block_end","index":2,"block":{"type":"tool_call","toolCallId":"ID1","nativeId":"call_a","toolName":"read","args":{"path":"a"}}}
{"type":"tool_call_delta","index":3,"text":"{}"}
{"type":"block_end","index":3,"block":{"type":"tool_call","toolCallId":"ID2","nativeId":"call_b","toolName":"list","args":{}}}
{"type":"usage","usage":{"input":40,"output":30,"cacheRead":60,"reasoning":12}}
{"type":"stopped","reason":"tool_use"}
{"type":"message_end"}
)";
  const Heard heard = Hear(WholeReply());
  EXPECT_EQ(heard.events, WithIds(expected));
  EXPECT_TRUE(heard.ended);
  ExpectTheSameInAnyPieces(kDialect, &MakeDecoder, WholeReply(), heard.events);
}

TEST(OpenAiResponsesReply, ACutReplyIsCompleteOnlyBehindItsEndMark) {
  ExpectNoEndWithout(R"("total_tokens":130}}})", kDialect, &MakeDecoder, WholeReply());
}

TEST(OpenAiResponsesReply, WhatWasHeardGoesBackToTheSameModelAsItCame) {
  const Heard heard = Hear(WholeReply());
  Request request;
  request.entries = {
      AssistantTurn{.blocks = heard.reply.content.blocks, .model = heard.reply.content.model}};
  const std::string body = BodyOf(Encode(OpenAiModel(kDialect), request));
  EXPECT_EQ(
      body.substr(body.find("\"input\"")),
      "\"input\":[" + std::string(kReasoningItem) +
          R"(,{"type":"message","role":"assistant","phase":"commentary","content":"Héllo"},)"
          R"({"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"a\"}"},)"
          R"({"type":"function_call","call_id":"call_b","name":"list","arguments":"{}"}]})");
}

TEST(OpenAiResponsesReply, EveryEndHasItsStop) {
  const auto stop = [](const std::string& end) {
    return HearEvents({Event("output_text.delta", R"("delta":"a")"), end})
        .reply.content.stop_reason;
  };
  const auto incomplete = [&](const std::string& reason) {
    return stop(Event(
        "incomplete",
        R"("response":{"status":"incomplete","incomplete_details":{"reason":")" + reason + "\"}}"));
  };
  EXPECT_EQ(stop(kCompleted), stop::kEnd);
  EXPECT_EQ(stop(R"({"type":"response.completed"})"), stop::kEnd);
  EXPECT_EQ(incomplete("max_output_tokens"), stop::kMaxTokens);
  EXPECT_EQ(incomplete("content_filter"), stop::kRefused);
  EXPECT_EQ(incomplete("other"), stop::kOther);
  EXPECT_EQ(stop(R"({"type":"response.completed","response":{"status":"incomplete",)"
                 R"("incomplete_details":{"reason":"max_output_tokens"}}})"),
            stop::kMaxTokens);
}

TEST(OpenAiResponsesReply, ARefusalIsTextAndAStop) {
  const Heard pieces = HearEvents({Event("refusal.delta", R"("delta":"I can")"),
                                   Event("refusal.delta", R"("delta":"not.")"),
                                   Event("refusal.done", R"("refusal":"I cannot.")"), kCompleted});
  EXPECT_EQ(protocol::PlainText(pieces.reply.content.blocks), "I cannot.");
  EXPECT_EQ(pieces.reply.content.stop_reason, stop::kRefused);
  const Heard whole = HearEvents(
      {Event("output_item.done",
             R"("item":{"type":"message","content":[{"type":"refusal","refusal":"No."}]})"),
       kCompleted});
  EXPECT_EQ(protocol::PlainText(whole.reply.content.blocks), "No.");
  EXPECT_EQ(whole.reply.content.stop_reason, stop::kRefused);
}

TEST(OpenAiResponsesReply, FailuresComeInThreeShapesAndKeepTheText) {
  for (
      const std::string failure :
      {R"({"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow"}}})",
       R"({"type":"response.completed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow"}}})",
       R"({"type":"error","code":"rate_limit_exceeded","message":"Slow","param":null,"sequence_number":3})",
       R"({"type":"error","error":{"type":"rate_limit","code":"rate_limit_exceeded","message":"Slow"}})",
       R"({"error":{"code":"rate_limit_exceeded","message":"Slow"}})"}) {
    const Heard heard =
        HearEvents({Event("output_text.delta", R"("delta":"a")"), failure, kCompleted});
    ASSERT_TRUE(heard.reply.failure) << failure;
    EXPECT_EQ(heard.reply.failure->kind, FailureKind::kRateLimited) << failure;
    EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "a");
    EXPECT_TRUE(heard.reply.partial);
  }
  const Heard silent = HearEvents({R"({"type":"response.failed","response":{"error":null}})"});
  ASSERT_TRUE(silent.reply.failure);
  EXPECT_EQ(silent.reply.failure->kind, FailureKind::kServer);
}

TEST(OpenAiResponsesReply, WhatHasNoSenseIsPassedOver) {
  const Heard heard = HearEvents(
      {"", "null", "[]", "{}", R"({"type":7})", R"({"type":"keepalive"})",
       R"({"type":"response.new_thing","delta":"x"})", R"({"type":"response.output_item.added"})",
       R"({"type":"response.output_item.done","item":null})",
       R"({"type":"response.output_text.delta","delta":null,"output_index":"x"})",
       R"({"type":"response.function_call_arguments.delta","delta":7})",
       R"({"type":"response.created","response":null})",
       Event("output_item.done", R"("output_index":9,"item":{"type":"web_search_call","id":"w"})"),
       Event("output_text.delta", R"("output_index":0,"delta":"a")"), kCompleted, "[DONE]"});
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(heard.reply.content.blocks.size(), 1);
  EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "a");
}

TEST(OpenAiResponsesReply, TextThatIsNotJsonFails) {
  const Heard heard = HearEvents({Event("output_text.delta", R"("delta":"a")"),
                                  "{\"type\":" + std::string(500, 'x'), kCompleted});
  ASSERT_TRUE(heard.reply.failure);
  EXPECT_EQ(heard.reply.failure->kind, FailureKind::kGarbled);
  EXPECT_LT(heard.reply.failure->message.size(), 260);
  EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "a");
}

TEST(OpenAiResponsesReply, TheTypeMayBeTheEventsName) {
  const Heard heard = Hear(
      "event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\n"
      "event: response.completed\ndata: {\"response\":{}}\n\n");
  EXPECT_TRUE(heard.ended);
  EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "a");
}

TEST(OpenAiResponsesReply, ItemsNeedNeitherIndexNorId) {
  const Heard heard = HearEvents(
      {Event("output_item.added", R"("item":{"type":"reasoning"})"),
       Event("reasoning_text.delta", R"("delta":"Hm")"),
       Event(
           "output_item.done",
           R"("item":{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]})"),
       Event("output_item.added", R"("item":{"type":"message"})"),
       Event("output_text.delta", R"("delta":"a")"),
       Event("output_item.done",
             R"("item":{"type":"message","content":[{"type":"output_text","text":"a"}]})"),
       Event("output_item.added", R"("item":{"type":"function_call","call_id":"c1","name":"f"})"),
       Event("function_call_arguments.delta", R"("delta":"{")"),
       Event("function_call_arguments.delta", R"("delta":"}")"),
       Event("function_call_arguments.done", R"("arguments":"{}")"),
       Event("output_item.done",
             R"("item":{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"})"),
       Event("output_item.done",
             R"("item":{"type":"function_call","call_id":"c2","name":"g","arguments":{"x": 1}})"),
       kCompleted});
  const protocol::Blocks& blocks = heard.reply.content.blocks;
  ASSERT_EQ(blocks.size(), 4);
  EXPECT_EQ(std::get<protocol::ThinkingBlock>(blocks[0]).text, "Hm.");
  EXPECT_EQ(std::get<protocol::TextBlock>(blocks[1]).text, "a");
  EXPECT_EQ(std::get<protocol::ToolCallBlock>(blocks[2]).native_id, "c1");
  EXPECT_EQ(std::get<protocol::ToolCallBlock>(blocks[2]).args, Raw{"{}"});
  EXPECT_EQ(std::get<protocol::ToolCallBlock>(blocks[3]).tool_name, "g");
  EXPECT_EQ(std::get<protocol::ToolCallBlock>(blocks[3]).args, Raw{R"({"x": 1})"});
}

TEST(OpenAiResponsesReply, DoneEventsGiveWhatTheDeltasLeftOut) {
  const Heard heard = HearEvents(
      {Event("reasoning_summary_text.done", R"("output_index":0,"summary_index":0,"text":"One.")"),
       Event("reasoning_summary_text.done", R"("output_index":0,"summary_index":1,"text":"Two.")"),
       Event("output_text.delta", R"("output_index":1,"content_index":0,"delta":"He")"),
       Event("output_text.done", R"("output_index":1,"content_index":0,"text":"Hello")"),
       Event(
           "output_item.done",
           R"("output_index":1,"item":{"type":"message","content":[{"text":"Hello"},{"text":"World"}]})"),
       Event("output_text.done", R"("output_index":2,"content_index":0,"text":"again")"),
       kCompleted});
  EXPECT_EQ(std::get<protocol::ThinkingBlock>(heard.reply.content.blocks[0]).text, "One.\n\nTwo.");
  EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "Hello\n\nWorld\n\nagain");
}

TEST(OpenAiResponsesReply, AReplyMayStandInItsEndAlone) {
  const Heard heard = HearEvents(
      {R"({"type":"response.completed","response":{"model":"m","output":[{"type":"message","content":[{"text":"a"}]},)"
       R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}})"});
  EXPECT_EQ(protocol::PlainText(heard.reply.content.blocks), "a");
  EXPECT_EQ(heard.reply.content.stop_reason, stop::kToolUse);
}

TEST(OpenAiResponsesReply, ACallEndsWithItsArguments) {
  const std::string events =
      HearEvents(
          {Event("output_item.added",
                 R"("output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"})"),
           Event("function_call_arguments.done", R"("output_index":0,"arguments":"{}")"),
           Event("output_text.delta", R"("output_index":1,"delta":"a")"), kCompleted})
          .events;
  EXPECT_LT(events.find(R"("block_end","index":0)"), events.find(R"("block_start","index":1)"));
}

TEST(OpenAiResponsesReply, HiddenReasoningIsKeptWhole) {
  const std::string item =
      R"({"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"AB==","new":[1.50]})";
  const Heard heard =
      HearEvents({Event("output_item.done", R"("output_index":0,"item":)" + item),
                  Event("output_text.delta", R"("output_index":1,"delta":"a")"), kCompleted});
  const auto& hidden = std::get<protocol::RedactedThinkingBlock>(heard.reply.content.blocks.at(0));
  EXPECT_EQ(hidden.data, Raw{item});
  EXPECT_EQ(hidden.dialect, "openai-responses");
}

TEST(OpenAiResponsesReply, ReasoningThatNoServerCouldReadIsNotKept) {
  const Heard heard = HearEvents(
      {Event("output_item.done",
             R"("output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]})"),
       Event(
           "output_item.done",
           R"("output_index":1,"item":{"id":"rs_2","type":"reasoning","summary":[{"text":"Hm"}]})"),
       Event("output_text.delta", R"("output_index":2,"delta":"a")"), kCompleted});
  ASSERT_EQ(heard.reply.content.blocks.size(), 2);
  EXPECT_EQ(heard.reply.content.blocks[0],
            protocol::Block(protocol::ThinkingBlock{.text = "Hm", .dialect = "openai-responses"}));
}

TEST(OpenAiResponsesReply, ManyItemsEndTheReplyAndNotTheMemory) {
  std::vector<std::string> events;
  for (std::size_t i = 0; i < ReplyBuilder::kMaxBlocks + 50; ++i)
    events.push_back(Event("output_item.added", R"("item":{"type":"message"})"));
  const Heard heard = HearEvents(events);
  ASSERT_TRUE(heard.reply.failure);
  EXPECT_EQ(heard.reply.failure->kind, FailureKind::kProtocol);
}

}  // namespace
}  // namespace stet::provider::openai_responses
