// What the tests of the OpenAI dialects share: a request with everything in it, and a way to feed a
// recorded reply to a decoder in any pieces.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "provider/dialect.h"
#include "provider/reply_fixture.h"
#include "provider/sse.h"

namespace stet::provider {

using MakeDecoderOf = std::unique_ptr<Decoder> (*)(ReplyBuilder&);

/// Writes down every event, one line each.
class WritingSink : public Sink {
 public:
  void On(const StreamEvent& event) override { text += Encode(event) + "\n"; }
  std::string text;
};

struct Heard {
  std::string events;
  Reply reply;
  bool ended = false;
};

inline Model OpenAiModel(Dialect dialect) {
  Model model{.provider = "acme", .id = "m-1", .dialect = dialect, .base_url = "http://h/v1"};
  model.thinking = Thinking::kEffort;
  model.images = true;
  return model;
}

/// Feeds `pieces` as they come from a connection. An event that the end of the body cut is no
/// event.
inline Heard HearPieces(Dialect dialect, MakeDecoderOf make,
                        const std::vector<std::string_view>& pieces) {
  const Model model = OpenAiModel(dialect);
  WritingSink sink;
  Random ids(1);
  ReplyBuilder builder(model, sink, ids);
  const std::unique_ptr<Decoder> decoder = make(builder);
  SseParser parser;
  for (const std::string_view piece : pieces)
    parser.Feed(piece, [&](auto event, auto data) { decoder->On(event, data); });
  parser.Finish([&](auto event, auto data) {
    if (data == "[DONE]" || CheckJson(data)) decoder->On(event, data);
  });
  decoder->Finish();
  const bool ended = builder.ended();
  return {.events = sink.text, .reply = builder.TakeReply(), .ended = ended};
}

/// `bytes` in pieces of random length, on average `mean` bytes.
inline std::vector<std::string_view> Cut(std::string_view bytes, Random& random, std::size_t mean) {
  std::vector<std::string_view> pieces;
  while (!bytes.empty()) {
    const std::size_t length = std::min<std::size_t>(1 + random.Below(2 * mean), bytes.size());
    pieces.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return pieces;
}

inline void ExpectTheSameInAnyPieces(Dialect dialect, MakeDecoderOf make, std::string_view bytes,
                                     const std::string& events) {
  std::vector<std::string_view> single;
  for (std::size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  EXPECT_EQ(HearPieces(dialect, make, single).events, events);
  Random random(7);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(HearPieces(dialect, make, Cut(bytes, random, 1 + random.Below(200))).events, events);
}

/// A reply cut at any byte is complete only when the end of `mark` was there.
inline void ExpectNoEndWithout(std::string_view mark, Dialect dialect, MakeDecoderOf make,
                               std::string_view bytes) {
  ASSERT_NE(bytes.find(mark), std::string_view::npos);
  const std::size_t complete_at = bytes.find(mark) + mark.size();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const Heard heard = HearPieces(dialect, make, {bytes.substr(0, size)});
    ASSERT_EQ(heard.ended, size >= complete_at) << size;
    ASSERT_EQ(heard.reply.failure.has_value(), !heard.ended) << size;
    if (heard.reply.failure) {
      ASSERT_EQ(heard.reply.failure->kind, FailureKind::kTruncated) << size;
    }
  }
}

/// Each of `datas` as one event without a name.
inline std::string Sse(const std::vector<std::string>& datas) {
  std::string out;
  for (const std::string& data : datas) out += "data: " + data + "\n\n";
  return out;
}

inline protocol::ToolCallBlock CallBlock(const std::string& id, const std::string& native,
                                         const std::string& name, const std::string& args) {
  return {.tool_call_id = id, .native_id = native, .tool_name = name, .args = Raw{args}};
}

/// A question with an image, an answer with two calls and their results, one of them an error, one
/// with an image. `turn` is the answer without its calls.
inline Request FullRequest(AssistantTurn turn) {
  Request request;
  request.system = {"Be brief.", "", "Today is Monday."};
  request.tools = {{.name = "read",
                    .description = "Reads.",
                    .schema = Raw{R"({"type":"object","properties":{"path":{"type":"string"}}})"}},
                   {.name = "write", .description = "Writes."}};
  request.tool_choice = {.kind = ToolChoice::Kind::kNamed, .name = "read"};
  request.output = OutputSchema{.name = "answer", .schema = Raw{R"({"type":"object"})"}};
  request.effort = "max";
  request.max_tokens = 1000;
  request.stop_sequences = {"END", "\n\n"};
  request.cache_key = "ses_1";
  request.user = "user-1";
  request.read_blob = [](const std::string& blob) -> Result<std::string> { return blob; };
  const protocol::ImageBlock image{.media_type = "image/png", .blob = "pic"};
  turn.blocks.emplace_back(CallBlock("e_1", "call_a", "read", R"({"path":"a"})"));
  turn.blocks.emplace_back(CallBlock("e_2", "call_b", "write", R"("{\"pa")"));
  request.entries = {
      UserInput{.blocks = {protocol::TextBlock{.text = "Look \"here\""}, image}}, turn,
      ToolResult{.tool_call_id = "e_1", .content = {protocol::TextBlock{.text = "seen"}, image}},
      ToolResult{.tool_call_id = "e_2",
                 .content = {protocol::TextBlock{.text = "malformed"}},
                 .is_error = true},
      UserInput{.blocks = {protocol::TextBlock{.text = "Go on"}}}};
  return request;
}

inline std::string BodyOf(const Result<WireRequest>& wire) {
  EXPECT_TRUE(wire.has_value());
  if (!wire) return "";
  EXPECT_TRUE(CheckJson(wire->body)) << wire->body;
  return wire->body;
}

}  // namespace stet::provider
