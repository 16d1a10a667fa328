#include "json/writer.h"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(JsonWriter, PutsCommasBetweenAndNowhereElse) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("a").BeginArray().EndArray().Key("b").BeginArray();
  json.Int(1).BeginObject().EndObject().BeginArray().String("x").EndArray().Bool(true);
  json.EndArray().Key("c").BeginObject().Member("d", 1).EndObject().EndObject();
  EXPECT_EQ(out, R"({"a":[],"b":[1,{},["x"],true],"c":{"d":1}})");
  EXPECT_TRUE(CheckJson(out));
}

TEST(JsonWriter, AMemberMayBeOfEveryKind) {
  std::string out;
  const std::string owned = "s";
  JsonWriter(out)
      .BeginObject()
      .Member("view", std::string_view("v"))
      .Member("literal", "l")
      .Member("string", owned)
      .Member("big", std::int64_t{-9223372036854775807 - 1})
      .Member("small", 7)
      .Member("flag", false)
      .Member("raw", Raw{"[1.50]"})
      .Key("text")
      .Text("null")
      .EndObject();
  EXPECT_EQ(
      out,
      R"({"view":"v","literal":"l","string":"s","big":-9223372036854775808,"small":7,"flag":false,)"
      R"("raw":[1.50],"text":null})");
}

TEST(JsonWriter, StringsAndKeysAreEscaped) {
  std::string out;
  JsonWriter(out).BeginObject().Member("a\"b", "c\n\x01\\\xFF").EndObject();
  EXPECT_EQ(out, "{\"a\\\"b\":\"c\\n\\u0001\\\\\uFFFD\"}");
}

TEST(JsonWriter, GoesOnBehindWhatIsThere) {
  std::string out = "x=";
  JsonWriter(out).Int(1);
  EXPECT_EQ(out, "x=1");
}

}  // namespace
}  // namespace stet
