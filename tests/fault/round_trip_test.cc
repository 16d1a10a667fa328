// Events of every type with values that are hard to keep: encode(decode(line)) is the same line,
// byte for byte in every unknown member, tool argument and result.
#include <gtest/gtest.h>

#include "log/line.h"
#include "protocol/event.h"
#include "tests/fault/odd_values.h"
#include "tests/scale.h"

namespace stet::fault {
namespace {

using protocol::Event;
using protocol::PayloadVariant;

class RoundTripTest : public testing::Test {
 protected:
  template <std::size_t I = 0>
  void FillPayload(Event& event, std::size_t type) {
    if constexpr (I < std::variant_size_v<PayloadVariant>) {
      if (type != I) return FillPayload<I + 1>(event, type);
      std::variant_alternative_t<I, PayloadVariant> payload;
      odd_.Fill(payload);
      if constexpr (std::same_as<decltype(payload), protocol::UnknownEvent>)
        payload.type = "type_of_tomorrow";
      event.payload = std::move(payload);
    }
  }

  Event AnyEvent() {
    Event event;
    odd_.Fill(event.seq);
    odd_.Fill(event.id);
    odd_.Fill(event.parent_id);
    odd_.Fill(event.stamp);
    event.stamp.extra.clear();  // What an event does not know stands with its payload.
    FillPayload(event, odd_.random().Below(std::variant_size_v<PayloadVariant>));
    return event;
  }

  static std::string LineOf(const Event& event) {
    std::string line;
    protocol::EncodeEvent(event, line);
    log::SealLine(line, 0);
    line.pop_back();
    return line;
  }

  static const std::string& ExtraOf(const Event& event) {
    return std::visit([](const auto& payload) -> const std::string& { return payload.extra; },
                      static_cast<const PayloadVariant&>(event.payload));
  }

  /// The line with `unknown` members put anywhere behind the first four.
  std::string Scatter(std::string_view line, const std::vector<std::string>& unknown) {
    std::vector<std::string> members;
    JsonReader reader(line);
    std::string_view key;
    std::string_view value;
    EXPECT_TRUE(reader.EnterObject());
    while (reader.NextMember(&key)) {
      std::string member = "\"" + std::string(reader.raw_key()) + "\":";
      EXPECT_TRUE(reader.Skip(&value));
      members.push_back(member.append(value));
    }
    members.pop_back();  // The crc.
    std::size_t at = 4;
    for (const std::string& member : unknown) {
      at += odd_.random().Below(members.size() - at + 1);
      members.insert(members.begin() + static_cast<std::ptrdiff_t>(at++), member);
    }
    std::string text = "{";
    for (const std::string& member : members) ((text += text.size() > 1 ? "," : "") += member);
    return text + "}";
  }

  OddValues odd_{2026};
};

TEST_F(RoundTripTest, EveryLineIsWrittenBackAsItWasRead) {
  std::set<std::size_t> types;
  for (int i = 0; i < TestScale().round_trips; ++i) {
    const Event event = AnyEvent();
    types.insert(event.payload.index());
    const std::string line = LineOf(event);
    const Result<Event> decoded = protocol::DecodeEvent(line);
    ASSERT_TRUE(decoded) << decoded.error().Text() << "\n" << line;
    ASSERT_EQ(LineOf(*decoded), line);
    ASSERT_TRUE(*decoded == event) << line;
  }
  EXPECT_EQ(types.size(), std::variant_size_v<PayloadVariant>) << "every type had its turn";
}

TEST_F(RoundTripTest, UnknownMembersAnywhereAreKeptToTheByte) {
  for (int i = 0; i < TestScale().round_trips / 4; ++i) {
    Event event = AnyEvent();
    std::visit([](auto& payload) { payload.extra.clear(); },
               static_cast<PayloadVariant&>(event.payload));
    std::vector<std::string> unknown(1 + odd_.random().Below(4));
    std::string joined;
    for (std::string& member : unknown) {
      member = odd_.UnknownMember();
      joined += (joined.empty() ? "" : ",") + member;
    }
    const std::string text = Scatter(LineOf(event), unknown);
    const Result<Event> decoded = protocol::DecodeEvent(text);
    ASSERT_TRUE(decoded) << decoded.error().Text() << "\n" << text;
    ASSERT_EQ(ExtraOf(*decoded), joined) << text;
    const std::string line = LineOf(*decoded);
    const Result<Event> again = protocol::DecodeEvent(line);
    ASSERT_TRUE(again) << again.error().Text();
    ASSERT_TRUE(*again == *decoded) << line;
  }
}

}  // namespace
}  // namespace stet::fault
