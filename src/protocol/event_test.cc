#include "protocol/event.h"

#include <gtest/gtest.h>

#include "protocol/transient.h"

namespace stet::protocol {
namespace {

std::string Again(const std::string& line) {
  const Result<Event> event = DecodeEvent(line);
  if (!event) return event.error().Text();
  std::string out;
  EncodeEvent(*event, out);
  return out;
}

TEST(Event, AnEventIsWrittenInTheFixedOrder) {
  Event event;
  event.seq = 7;
  event.id = "e_1";
  event.parent_id = "e_0";
  event.stamp.ts = 5;
  event.stamp.client_id = "c";
  event.stamp.turn_id = "t";
  UserMessage user;
  user.client_message_id = "m";
  user.source = "user";
  user.message.blocks.push_back(TextBlock{.text = "hi"});
  event.payload = user;
  std::string out;
  EncodeEvent(event, out);
  EXPECT_EQ(
      out,
      R"({"seq":7,"id":"e_1","parentId":"e_0","type":"message","ts":5,"clientId":"c","turnId":"t","role":"user",)"
      R"("clientMessageId":"m","source":"user","message":{"blocks":[{"type":"text","text":"hi"}]}})");
  EXPECT_EQ(*DecodeEvent(out), event);
}

TEST(Event, ToolArgumentsResultsAndUnknownMembersComeBackToTheByte) {
  for (
      const std::string& line : {
          std::string(
              R"({"seq":1,"id":"a","parentId":null,"type":"message","ts":0,"clientId":"","role":"assistant","calls":1,"message":)"
              R"({"blocks":[{"type":"tool_call","toolCallId":"c","toolName":"T","args":{"x":1e400,"x":-0,"y":[0.1000000000000000055]}}],)"
              R"("model":"m","hue":18446744073709551616},"x":"\u0041"})"),
          std::string(
              R"({"seq":1,"id":"a","parentId":null,"type":"message","ts":0,"clientId":"","role":"tool_result","toolCallId":"c",)"
              R"("callIndex":0,"isError":false,"content":{"k":"\/","k":1E5},"blobs":[]})"),
          std::string(
              R"({"seq":1,"id":"a","parentId":null,"type":"new","ts":0,"clientId":"","critical":true,"z":[ 1 , 2 ]})"),
      }) {
    EXPECT_EQ(Again(line), line);
  }
}

TEST(Event, AKnownTypeThatDoesNotFitIsKeptAsUnknown) {
  const std::string line =
      R"({"seq":1,"id":"a","parentId":null,"type":"turn","ts":3,"clientId":"c","phase":17})";
  const Event event = *DecodeEvent(line);
  ASSERT_TRUE(std::holds_alternative<UnknownEvent>(event.payload));
  EXPECT_FALSE(std::get<UnknownEvent>(event.payload).problem.empty());
  EXPECT_EQ(event.stamp.ts, 3);
  EXPECT_EQ(Again(line), line);
}

TEST(Event, TheFirstFourMembersAreRequiredInOrder) {
  EXPECT_FALSE(DecodeEvent(R"({"id":"a","seq":1,"parentId":null,"type":"turn"})"));
  EXPECT_FALSE(DecodeEvent(R"({"seq":1,"id":"a","type":"turn"})"));
  EXPECT_FALSE(DecodeEvent(R"({"seq":-1,"id":"a","parentId":null,"type":"turn"})"));
  EXPECT_FALSE(DecodeEvent(R"({"seq":1,"id":"a","parentId":3,"type":"turn"})"));
  EXPECT_FALSE(DecodeEvent("[]"));
}

TEST(Event, TheTableSaysWhereEachTypeStandsAndWhenItIsFlushed) {
  EXPECT_EQ(PlaceOf(UserMessage()), Place::kTree);
  EXPECT_EQ(PlaceOf(Turn()), Place::kControl);
  EXPECT_EQ(PlaceOf(SessionInfo()), Place::kSession);
  EXPECT_EQ(PlaceOf(FileFact{.op = "read"}), Place::kControl);
  EXPECT_EQ(PlaceOf(FileFact{.op = "write"}), Place::kSession);
  EXPECT_EQ(PlaceOf(UnknownEvent()), Place::kControl);
  EXPECT_EQ(FlushOf(UserMessage()), Flush::kSync);
  EXPECT_EQ(FlushOf(AssistantMessage()), Flush::kLazy);
  EXPECT_EQ(FlushOf(ToolStarted{.effects = true}), Flush::kAlways);
  EXPECT_EQ(FlushOf(ToolStarted{.effects = false}), Flush::kLazy);
  EXPECT_EQ(FlushOf(FileFact{.op = "write"}), Flush::kAlways);
  EXPECT_EQ(FlushOf(Turn{.phase = "end"}), Flush::kSync);
  EXPECT_EQ(FlushOf(Opened()), Flush::kAlways);
}

TEST(Event, EveryTypeSurvivesARoundTripWithItsDefaults) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto check = []<class T>() {
      Event event;
      event.seq = 1;
      event.id = "e";
      event.payload = T();
      std::string out;
      EncodeEvent(event, out);
      const Result<Event> again = DecodeEvent(out);
      ASSERT_TRUE(again) << out;
      EXPECT_EQ(*again, event) << out;
      EXPECT_EQ(TypeNumber(event.payload), TypeNumber(again->payload));
    };
    (check.template operator()<std::variant_alternative_t<I, PayloadVariant>>(), ...);
  }(std::make_index_sequence<std::variant_size_v<PayloadVariant> - 1>());
}

TEST(Transient, EveryKindSurvivesARoundTripAndUnknownOnesAreKept) {
  Transient transient;
  transient.seq = 9;
  transient.transient = TextDelta{.event_id = "e", .block_index = 1, .delta = "x"};
  EXPECT_EQ(*DecodeTransient(EncodeTransient(transient)), transient);
  const std::string unknown =
      R"({"seq":1,"ts":2,"clientId":"c","transient":{"type":"sparkle","n":1e400}})";
  EXPECT_EQ(EncodeTransient(*DecodeTransient(unknown)), unknown);
}

}  // namespace
}  // namespace stet::protocol
