#include "json/view.h"

#include <vector>

#include <gtest/gtest.h>

namespace stet {
namespace {

using Kind = JsonReader::Kind;

TEST(JsonView, KnowsTheKindOfItsValue) {
  EXPECT_EQ(JsonView("{}").kind(), Kind::kObject);
  EXPECT_EQ(JsonView("[]").kind(), Kind::kArray);
  EXPECT_EQ(JsonView("\"\"").kind(), Kind::kString);
  EXPECT_EQ(JsonView("-1").kind(), Kind::kNumber);
  EXPECT_EQ(JsonView("true").kind(), Kind::kBool);
  EXPECT_EQ(JsonView("null").kind(), Kind::kNull);
  EXPECT_TRUE(JsonView("null").is_null());
  EXPECT_TRUE(JsonView("null").present());
}

TEST(JsonView, NoValueIsAbsent) {
  for (const std::string_view text : {"", "  ", "x", "}", "\n\t"}) {
    const JsonView view(text);
    EXPECT_FALSE(view) << text;
    EXPECT_EQ(view.text(), "");
  }
  EXPECT_FALSE(JsonView());
}

TEST(JsonView, TheTextIsExactWithoutTheSpaceAroundIt) {
  EXPECT_EQ(JsonView(" \n{ \"a\" : 1e400 }\r\n").text(), "{ \"a\" : 1e400 }");
  EXPECT_EQ(JsonView(R"({"a" : [ 1.50 , 2 ] })")["a"].text(), "[ 1.50 , 2 ]");
}

TEST(JsonView, LooksUpTheFirstMemberOfAName) {
  const JsonView view(R"({"x":{"a":1},"a":2,"a":3,"k\u0065y":4})");
  EXPECT_EQ(view["a"].Int(), 2);
  EXPECT_EQ(view["x"]["a"].Int(), 1);
  EXPECT_EQ(view["key"].Int(), 4);
  EXPECT_FALSE(view["b"]);
}

TEST(JsonView, EverythingAskedOfWhatIsAbsentIsAbsent) {
  for (const JsonView& view : {JsonView(), JsonView("7")["a"], JsonView(R"({"a":1})")["b"]["c"]}) {
    EXPECT_FALSE(view["a"]["b"]);
    EXPECT_EQ(view.String(), std::nullopt);
    EXPECT_EQ(view.Int(), std::nullopt);
    EXPECT_EQ(view.Bool(), std::nullopt);
    EXPECT_EQ(view.StringOr("x"), "x");
    EXPECT_EQ(view.IntOr(7), 7);
    view.ForEach([](const JsonView&) { FAIL(); });
    EXPECT_FALSE(view.ForEachMember([](std::string_view, const JsonView&) { FAIL(); }));
  }
}

TEST(JsonView, AValueOfAnotherKindIsAbsent) {
  const JsonView view(R"({"text":"a\n\u00e9","number":12,"real":12.0,"yes":true,"none":null})");
  EXPECT_EQ(view["text"].String(), "a\né");
  EXPECT_EQ(view["text"].Int(), std::nullopt);
  EXPECT_EQ(view["number"].Int(), 12);
  EXPECT_EQ(view["number"].String(), std::nullopt);
  EXPECT_EQ(view["real"].Int(), std::nullopt);
  EXPECT_EQ(view["yes"].Bool(), true);
  EXPECT_EQ(view["none"].Bool(), std::nullopt);
  EXPECT_EQ(JsonView("9223372036854775808").Int(), std::nullopt);
}

TEST(JsonView, DamageHidesWhatStandsInAndBehindIt) {
  const JsonView view(R"({"a":1,"b":[1,},"c":2})");
  EXPECT_EQ(view["a"].Int(), 1);
  EXPECT_FALSE(view["b"]);
  EXPECT_FALSE(view["c"]);
  EXPECT_FALSE(JsonView(R"({"a":)")["a"]);
}

TEST(JsonView, VisitsElementsInOrder) {
  std::string seen;
  JsonView(R"([1, "b" ,[3],{}])").ForEach([&](const JsonView& element) {
    seen += std::string(element.text()) + ";";
  });
  EXPECT_EQ(seen, "1;\"b\";[3];{};");
  JsonView("{\"a\":1}").ForEach([](const JsonView&) { FAIL(); });
}

TEST(JsonView, VisitsMembersInOrderAndSaysWhetherTheyAreWhole) {
  const auto visit = [](std::string_view text) {
    std::string seen;
    const bool whole =
        JsonView(text).ForEachMember([&](std::string_view key, const JsonView& value) {
          seen += std::string(key) + "=" + std::string(value.text()) + ";";
        });
    return seen + (whole ? "whole" : "damaged");
  };
  EXPECT_EQ(visit(" {\"a\":1, \"b\\n\":[2] ,\"a\":null} "), "a=1;b\n=[2];a=null;whole");
  EXPECT_EQ(visit("{}"), "whole");
  EXPECT_EQ(visit("{\"a\":1"), "a=1;damaged");
  EXPECT_EQ(visit("{\"a\":1}x"), "a=1;damaged");
  EXPECT_EQ(visit("{\"a\":1,}"), "a=1;damaged");
  EXPECT_EQ(visit("{\"a\":tru}"), "damaged");
  EXPECT_EQ(visit("[]"), "damaged");
}

TEST(JsonView, DeepNestingIsRefusedAndNotFollowed) {
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_FALSE(JsonView(deep)["a"]);
}

}  // namespace
}  // namespace stet
