#include "json/describe.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

struct Inner {
  STET_FIELDS(Inner, (std::string, name), (std::optional<std::int64_t>, how_many))
};

struct Circle {
  static constexpr std::string_view kTag = "circle";
  STET_FIELDS(Circle, (std::int64_t, radius))
};
struct Square {
  static constexpr std::string_view kTag = "square";
  STET_FIELDS(Square, (std::int64_t, side))
};
using Shape = std::variant<Circle, Square, Raw>;

struct Outer {
  STET_FIELDS(Outer,
              (bool, is_set),
              (std::uint64_t, big_number),
              (Raw, args),
              (std::vector<Inner>, inners),
              (std::optional<Inner>, maybe),
              (std::vector<Shape>, shapes))
};

struct Nothing {
  STET_FIELDS(Nothing)
};

TEST(Describe, MembersAreNamedInCamelCaseAndKeepTheirOrder) {
  Outer outer;
  outer.is_set = true;
  outer.big_number = UINT64_MAX;
  outer.args.text = "1e400";
  outer.inners = {{.name = "x", .how_many = 3}};
  outer.shapes = {Circle{.radius = 1}};
  EXPECT_EQ(
      Encode(outer),
      R"({"isSet":true,"bigNumber":18446744073709551615,"args":1e400,"inners":[{"name":"x","howMany":3}],)"
      R"("shapes":[{"type":"circle","radius":1}]})");
  EXPECT_EQ(*Decode<Outer>(Encode(outer)), outer);
}

TEST(Describe, AnEmptyObjectIsTwoBraces) { EXPECT_EQ(Encode(Nothing()), "{}"); }

TEST(Describe, UnknownMembersAreKeptAsTheyStand) {
  const std::string text =
      R"({"name":"x","new":[1, 2.50,{"a":1e400}],"new":-0,"k\u0065y":"\u0041"})";
  const Inner inner = *Decode<Inner>(text);
  EXPECT_EQ(inner.name, "x");
  EXPECT_EQ(Encode(inner), text);
}

TEST(Describe, TheSecondOfADuplicateIsKeptBesideTheFirst) {
  const Inner inner = *Decode<Inner>(R"({"name":"first","name":"second"})");
  EXPECT_EQ(inner.name, "first");
  EXPECT_EQ(Encode(inner), R"({"name":"first","name":"second"})");
}

TEST(Describe, ANullForAnOptionalIsNotDropped) {
  const Inner inner = *Decode<Inner>(R"({"name":"x","howMany":null})");
  EXPECT_EQ(inner.how_many, std::nullopt);
  EXPECT_EQ(Encode(inner), R"({"name":"x","howMany":null})");
}

TEST(Describe, AMissingMemberKeepsItsDefaultAndAWrongKindFails) {
  EXPECT_EQ(Decode<Inner>("{}")->name, "");
  EXPECT_FALSE(Decode<Inner>(R"({"name":7})"));
  EXPECT_FALSE(Decode<Inner>(R"({"howMany":1.5})"));
  EXPECT_FALSE(Decode<Inner>(R"([])"));
  EXPECT_FALSE(Decode<Inner>(R"({"name":"x"} trailing)"));
}

TEST(Describe, AVariantOfAnUnknownOrUnfittingKindIsKeptAsText) {
  const std::string text =
      R"({"isSet":false,"bigNumber":0,"args":null,"inners":[],"shapes":[{"type":"hexagon","a":1},{"type":"circle","radius":"wide"},5]})";
  const Outer outer = *Decode<Outer>(text);
  ASSERT_EQ(outer.shapes.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Raw>(outer.shapes[0]));
  EXPECT_TRUE(std::holds_alternative<Raw>(outer.shapes[1]));
  EXPECT_EQ(Encode(outer), text);
}

TEST(Describe, ATagMayStandAnywhere) {
  JsonReader reader(R"({"side":2,"type":"square","type":"again"})");
  Shape shape;
  ASSERT_TRUE(DecodeValue(reader, shape));
  ASSERT_TRUE(std::holds_alternative<Square>(shape));
  EXPECT_EQ(std::get<Square>(shape).side, 2);
  EXPECT_EQ(Encode(shape), R"({"type":"square","side":2,"type":"again"})");
}

}  // namespace
}  // namespace stet
