#include "json/members.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

constexpr MemberNames<3> kNames = {"a", "b", "c"};

/// The members' texts, each between bars; "refused" when the text is.
std::string Texts(const std::optional<std::array<JsonView, 3>>& members) {
  if (!members) return "refused";
  std::string out;
  for (const JsonView& member : *members) out += "|" + std::string(member.text());
  return out + "|";
}

TEST(JsonMembers, AreFoundInAnyOrderAndAreAbsentWhenMissing) {
  EXPECT_EQ(Texts(MembersOf(R"({"c":[1, 2],"x":{"a":9},"a":"\u0041"})", kNames)),
            R"(|"\u0041"||[1, 2]|)");
  EXPECT_EQ(Texts(MembersOf(" {} ", kNames)), "||||");
}

TEST(JsonMembers, TheFirstOfTwoCountsAndAnEscapedNameIsTheSameName) {
  EXPECT_EQ(Texts(MembersOf(R"({"a":1,"a":2,"\u0062":null})", kNames)), "|1|null||");
}

TEST(JsonMembers, WhatIsNotOneWholeObjectIsRefused) {
  for (const std::string_view text :
       {"", "[]", "1", "null", "{", R"({"a":})", R"({"a":1,})", R"({"a":1}{})", R"({"x":[})"}) {
    EXPECT_EQ(Texts(MembersOf(text, kNames)), "refused") << text;
  }
}

TEST(JsonMembers, AReaderGoesOnBehindTheValue) {
  JsonReader reader(R"([{"a":1},7,{"b":2}])");
  ASSERT_TRUE(reader.EnterArray());
  std::string all;
  while (reader.NextElement()) all += Texts(ReadMembers(reader, kNames)) + " ";
  EXPECT_EQ(all, "|1||| |||| ||2|| ");
  EXPECT_TRUE(reader.AtEnd());
}

}  // namespace
}  // namespace stet
